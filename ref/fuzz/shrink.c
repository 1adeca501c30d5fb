/* SPDX-License-Identifier: MIT */
/*
 * Letters: k array, m element, i index of an axis.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

#define BUDGET 0x1p29         /* multiplications, of all cases that are tried */
#define OF_ANY_CASE 0x1p17    /* what a case without arithmetic takes, in multiplications */
#define OF_TIMEOUT 0x1p27     /* the same if the kernel has not answered in time */

struct shrink {
    struct npz *z;
    struct verdict *verdict;
    struct fuzz *fuzz;
    double budget;        /* what is left of it */
    const char *error;
};

static int is_over(const struct shrink *s)
{
    return s->error || s->budget <= 0 || (s->fuzz->stop && *s->fuzz->stop);
}

static double price(const struct shrink *s, const struct npz *z)
{
    double N = (double)fuzz_extent(z, 'N'), L = (double)fuzz_extent(z, 'L'), S = (double)fuzz_extent(z, 'S');
    double E = (double)fuzz_whole(z, "embed_dim"), H = (double)fuzz_extent(z, 'H');

    return (N + 1) * ((L + S) * 2 * E * E + L * S * (2 * E + 8 * H)) + 4 * (double)fuzz_size(z)
         + (s->verdict->outcome == OUTCOME_TIMEOUT ? OF_TIMEOUT : OF_ANY_CASE);
}

static int set(struct npz *z, const char *name, double x)
{
    FOR(k, z->count) if (!strcmp(z->arrays[k].name, name) && npz_value(&z->arrays[k], 0) != x) {
        npz_set(&z->arrays[k], 0, x);
        return 1;
    }
    return 0;
}

/* Go on with the smaller case if its verdict is of the same kind. Returns
 * whether it is; smaller is used up. */
static int accept_smaller(struct shrink *s, struct npz *smaller)
{
    struct verdict verdict;

    if (!fuzz_is_causal(smaller))
        set(smaller, "is_causal", 0);
    s->budget -= price(s, smaller);
    if (!is_over(s))
        s->error = fuzz_judge(&verdict, NULL, s->fuzz, smaller);
    if (is_over(s) || verdict.outcome != s->verdict->outcome || verdict.is_policy != s->verdict->is_policy) {
        npz_free(smaller);
        return 0;
    }
    npz_free(s->z);
    *s->z = *smaller;
    *s->verdict = verdict;
    return 1;
}

/* Leave out an option: its members are removed, its flag is 0. */
static int without(struct shrink *s, const char *const *members, const char *flag)
{
    struct npz smaller;
    int changed = 0;

    for (size_t m = 0; members[m]; m++)
        changed |= npz_get(s->z, members[m]) != NULL;
    if ((s->error = npz_copy(&smaller, s->z, members)))
        return 0;
    if (flag)
        changed |= set(&smaller, flag, 0);
    if (changed)
        return accept_smaller(s, &smaller);
    npz_free(&smaller);
    return 0;
}

static int drop_options(struct shrink *s)
{
    static const char *const members[][3] = {
        { "attn_mask" }, { "key_padding_mask" }, { "bias_k", "bias_v" }, { "in_proj_bias", "out_proj.bias" }, { NULL },
    };
    static const char *const flags[] = { "is_causal", NULL, NULL, NULL, "add_zero_attn" };
    int smaller = 0;

    for (size_t k = 0; !is_over(s) && k < sizeof flags / sizeof *flags; k++)
        smaller |= without(s, members[k], flags[k]);
    return smaller;
}

/* Cut as many indices of an axis at once as there may be, then half as many, at
 * last single ones; one index stays. Powers of two keep what is left of tiles. */
static int cut_axis(struct shrink *s, char axis)
{
    size_t most = 1;
    int smaller = 0;

    while (4 * most <= fuzz_extent(s->z, axis))
        most *= 2;
    for (size_t step = most; !is_over(s) && step > 0; step /= 2)
        for (size_t i = 0; !is_over(s) && i + step <= fuzz_extent(s->z, axis) && step < fuzz_extent(s->z, axis); ) {
            struct npz next;
            if (!fuzz_cut(&next, s->z, axis, i, step) && accept_smaller(s, &next))
                smaller = 1;
            else
                i += step;
        }
    return smaller;
}

/* Does an array hold numbers or flags, and no configuration? */
static int numbers(const struct npz_array *a)
{
    return a->ndim > 0 && (a->type == NPZ_F4 || a->type == NPZ_B1);
}

/* All elements of an array by one rule: zero, whole, quarters. */
static double simpler(double x, int rule)
{
    if (rule == 0)
        return 0;
    return rule == 1 ? rint(x) : rint(x * 4) / 4;
}

static int simplify(struct shrink *s)
{
    int smaller = 0;

    for (size_t k = 0; !is_over(s) && k < s->z->count; k++)
        for (int rule = 0; !is_over(s) && rule < 3 && numbers(&s->z->arrays[k]); rule++) {
            struct npz next;
            int changed = 0;
            if (npz_copy(&next, s->z, NULL))
                return smaller;
            struct npz_array *a = &next.arrays[k];
            FOR(m, a->size) {
                double x = npz_value(a, m), y = isfinite(x) ? simpler(x, rule) : x;
                changed |= x != y;
                if (x != y)
                    npz_set(a, m, y);
            }
            if (!changed)
                npz_free(&next);
            else
                smaller |= accept_smaller(s, &next);
        }
    return smaller;
}

/* Single elements to 0, or to 1. */
static int simplify_elements(struct shrink *s)
{
    int smaller = 0;

    for (size_t k = 0; !is_over(s) && k < s->z->count; k++)
        for (size_t m = 0; !is_over(s) && numbers(&s->z->arrays[k]) && m < s->z->arrays[k].size; m++)
            for (int one = 0; one < 2; one++) {
                struct npz next;
                double x = npz_value(&s->z->arrays[k], m);
                if (x == one || x == 0 || npz_copy(&next, s->z, NULL))
                    continue;
                npz_set(&next.arrays[k], m, one);
                smaller |= accept_smaller(s, &next);
            }
    return smaller;
}

static void cut_all(struct shrink *s)
{
    static const char axes[] = "NHDKVLS";
    int smaller = 1;

    for (int round = 0; !is_over(s) && smaller && round < 8; round++) {
        smaller = drop_options(s);
        for (size_t a = 0; axes[a]; a++)
            smaller |= cut_axis(s, axes[a]);
    }
}

static int make_narrow(struct shrink *s)
{
    struct npz next;

    if (is_over(s) || fuzz_narrow(&next, s->z))
        return 0;
    if (fuzz_size(&next) < fuzz_size(s->z))
        return accept_smaller(s, &next);
    npz_free(&next);
    return 0;
}

const char *fuzz_shrink(struct npz *z, struct verdict *verdict, struct fuzz *fuzz)
{
    struct shrink s = { z, verdict, fuzz, BUDGET, NULL };

    cut_all(&s);
    if (make_narrow(&s))
        cut_all(&s);
    for (int round = 0; !is_over(&s) && round < 2 && simplify(&s); round++)
        ;
    if (!is_over(&s) && fuzz_size(z) <= 512)
        simplify_elements(&s);
    return s.error;
}
