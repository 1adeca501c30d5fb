/* SPDX-License-Identifier: MIT */
/*
 * Letters: k array, m element, i index of an axis.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* Where the shrinking stands. */
struct shrink { struct npz *z; struct verdict *verdict; struct fuzz *fuzz; const char *error; };

/* Take the smaller case if it goes wrong in the same way; it is used up. */
static int take(struct shrink *s, struct npz *smaller)
{
    struct verdict verdict;

    if (!s->error)
        s->error = fuzz_judge(&verdict, NULL, s->fuzz, smaller);
    if (s->error || verdict.outcome != s->verdict->outcome || (s->fuzz->stop && *s->fuzz->stop)) {
        npz_free(smaller);
        return 0;
    }
    npz_free(s->z);
    *s->z = *smaller;
    *s->verdict = verdict;
    return 1;
}

static int set(struct npz *z, const char *name, double x)
{
    FOR(k, z->count) if (!strcmp(z->arrays[k].name, name) && npz_value(&z->arrays[k], 0) != x) {
        npz_set(&z->arrays[k], 0, x);
        return 1;
    }
    return 0;
}

/* Without an option: its members gone, its flag 0. */
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
        return take(s, &smaller);
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

    for (size_t k = 0; !s->error && k < sizeof flags / sizeof *flags; k++)
        smaller |= without(s, members[k], flags[k]);
    return smaller;
}

/* Half of what is left of an axis at once, then single indices. */
static int cut_axis(struct shrink *s, char axis)
{
    int smaller = 0;

    for (size_t step = fuzz_extent(s->z, axis) / 2; !s->error && step > 0; step /= 2)
        for (size_t i = 0; !s->error && i + step <= fuzz_extent(s->z, axis); ) {
            struct npz now, next;
            int cut = 0;
            if (npz_copy(&now, s->z, NULL))
                return smaller;
            for (size_t n = 0; n < step; n++) {
                if (fuzz_extent(&now, axis) <= 1 || fuzz_cut(&next, &now, axis, i))
                    break;
                npz_free(&now);
                now = next;
                cut = 1;
            }
            if (!cut)
                npz_free(&now);
            if (cut && take(s, &now))
                smaller = 1;
            else
                i += step;
        }
    return smaller;
}

/* Is a member one of numbers to compute with? */
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

    for (size_t k = 0; !s->error && k < s->z->count; k++)
        for (int rule = 0; !s->error && rule < 3 && numbers(&s->z->arrays[k]); rule++) {
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
                smaller |= take(s, &next);
        }
    return smaller;
}

/* Single elements to 0, or to 1. */
static int simplify_elements(struct shrink *s)
{
    int smaller = 0;

    for (size_t k = 0; !s->error && k < s->z->count; k++)
        for (size_t m = 0; !s->error && numbers(&s->z->arrays[k]) && m < s->z->arrays[k].size; m++)
            for (int one = 0; one < 2; one++) {
                struct npz next;
                double x = npz_value(&s->z->arrays[k], m);
                if (x == one || x == 0 || npz_copy(&next, s->z, NULL))
                    continue;
                npz_set(&next.arrays[k], m, one);
                smaller |= take(s, &next);
            }
    return smaller;
}

static void cut_all(struct shrink *s)
{
    static const char axes[] = "NHLSDKV";
    int smaller = 1;

    for (int round = 0; !s->error && smaller && round < 8; round++) {
        smaller = drop_options(s);
        for (size_t a = 0; axes[a]; a++)
            smaller |= cut_axis(s, axes[a]);
    }
}

static int make_narrow(struct shrink *s)
{
    struct npz next;

    if (s->error || fuzz_narrow(&next, s->z))
        return 0;
    if (fuzz_size(&next) < fuzz_size(s->z))
        return take(s, &next);
    npz_free(&next);
    return 0;
}

const char *fuzz_shrink(struct npz *z, struct verdict *verdict, struct fuzz *fuzz)
{
    struct shrink s = { z, verdict, fuzz, NULL };

    cut_all(&s);
    if (make_narrow(&s))
        cut_all(&s);
    for (int round = 0; !s.error && round < 2 && simplify(&s); round++)
        ;
    if (!s.error && fuzz_size(z) <= 512)
        simplify_elements(&s);
    return s.error;
}
