/* SPDX-License-Identifier: MIT */
/*
 * Letters: k stage, m element of a whole array, a axis.
 */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* What the axes of a stage are, for messages. */
static const char *const axes[STAGES] = {
    [QUERY_ROWS] = "NLE", [KEY_ROWS] = "NSC", [VALUE_ROWS] = "NSC",
    [Q_WEIGHT] = "EE", [K_WEIGHT] = "EC", [V_WEIGHT] = "EC", [Q_BIAS] = "E", [K_BIAS] = "E", [V_BIAS] = "E",
    [Q_WEIGHT_T] = "EE", [K_WEIGHT_T] = "CE", [V_WEIGHT_T] = "CE",
    [Q_PROJ] = "NLE", [K_PROJ] = "NSE", [V_PROJ] = "NSE",
    [Q_HEADS] = "NHLD", [K_HEADS] = "NHXD", [V_HEADS] = "NHXD",
    [MASK] = "NHLX", [SCORES] = "NHLX", [MASKED_SCORES] = "NHLX", [ATTN_WEIGHTS] = "NHLX",
    [HEAD_OUTPUTS] = "NHLD", [MERGED] = "NLE", [OUT_WEIGHT_T] = "EE", [OUTPUT] = "NLE", [ATTN_WEIGHTS_MEAN] = "NLX",
};

static const char *letter(char c)
{
    static const char *const names[] = { "N", "L", "S", "E", "H", "D", "S'", "C" };
    static const char order[] = "NLSEHDXC";
    return names[strchr(order, c) - order];
}

/* "(3, 4, 10)" */
static void shape_text(char text[112], const struct array *a)
{
    int at = snprintf(text, 112, "(");
    for (int k = 0; k < a->ndim; k++)
        at += snprintf(text + at, 112 - (size_t)at, "%s%zu", k ? ", " : "", a->shape[k]);
    snprintf(text + at, 112 - (size_t)at, a->ndim == 1 ? ",)" : ")");
}

/* Which order of the wanted axes has the found shape? order[k] is the wanted
 * axis that stands at place k. Tries every one; a stage has at most 4 axes. */
static int reordered(int order[4], const struct array *found, const struct array *wanted)
{
    int n = wanted->ndim, total = 1;

    if (found->ndim != n)
        return 0;
    for (int k = 2; k <= n; k++)
        total *= k;
    for (int which = 0; which < total; which++) {
        int rest = which, free_axes[4] = { 0, 1, 2, 3 }, fits = 1;
        for (int k = 0; k < n; k++) {
            int choices = n - k, pick = rest % choices;
            rest /= choices;
            order[k] = free_axes[pick];
            for (int a = pick; a + 1 < choices; a++)
                free_axes[a] = free_axes[a + 1];
            fits = fits && found->shape[k] == wanted->shape[order[k]];
        }
        if (fits)
            return 1;
    }
    return 0;
}

/* A wrong shape: what was found, what was wanted, and the transpose that would explain it. */
static void describe_shape(char reason[240], enum mha_stage stage, const struct array *found, const struct array *wanted)
{
    char is[112], want[112], names[64] = "";
    int order[4], at = 0;

    shape_text(is, found);
    shape_text(want, wanted);
    for (int k = 0; k < wanted->ndim; k++)
        at += snprintf(names + at, sizeof names - (size_t)at, "%s%s", k ? ", " : "", letter(axes[stage][k]));
    at = snprintf(reason, 240, "%s: found shape %s, wanted (%s) = %s", wanted->name, is, names, want);
    if (at < 0 || at >= 240)
        return;
    if (reordered(order, found, wanted)) {
        at += snprintf(reason + at, 240 - (size_t)at, "; it looks like (");
        for (int k = 0; k < wanted->ndim && at < 240; k++)
            at += snprintf(reason + at, 240 - (size_t)at, "%s%s", k ? ", " : "", letter(axes[stage][order[k]]));
        if (at < 240)
            snprintf(reason + at, 240 - (size_t)at, "): transpose it");
    } else if (found->ndim + 1 == wanted->ndim && wanted->shape[0] == 1) {
        snprintf(reason + at, 240 - (size_t)at, "; unbatched results have N = 1 in front");
    }
}

static void locate(struct element *e, enum mha_stage stage, const struct array *a, size_t m)
{
    e->stage = stage;
    e->ndim = a->ndim;
    for (int k = a->ndim; k-- > 0; m /= a->shape[k])
        e->index[k] = m % a->shape[k];
}

/* NaN is a class, and so is each infinity: a number never matches one. */
static double error_sigmas(double got, double expected, double sigma, const struct profile *p)
{
    if (isnan(got) && isnan(expected))
        return 0;
    if (isfinite(got) && isfinite(expected))
        return fabs(got - expected) / (sigma + p->floor / ENVELOPE_SIGMAS);
    return got == expected ? 0 : INFINITY;
}

void compare_stage(struct comparison *c, enum mha_stage stage, const struct array *got,
                   const struct array *expected, const struct array *sigma, const struct profile *p)
{
    *c = (struct comparison){ .count = expected->size, .worst.stage = STAGES };
    int same = got->ndim == expected->ndim;
    for (int k = 0; same && k < expected->ndim; k++)
        same = got->shape[k] == expected->shape[k];
    if (!same) {
        describe_shape(c->reason, stage, got, expected);
        return;
    }
    FOR(m, expected->size) {
        double e = error_sigmas(got->v[m], expected->v[m], sigma->v[m], p);
        if (!(e <= ENVELOPE_SIGMAS))
            c->wrong++;
        if (sigma->v[m] > 0 && isfinite(e)) {
            c->measured++;
            c->squares += e * e;
        }
        if (m == 0 || e > c->worst.error_sigma) {
            locate(&c->worst, stage, expected, m);
            c->worst.got = got->v[m];
            c->worst.expected = expected->v[m];
            c->worst.sigma = sigma->v[m];
            c->worst.error_sigma = e;
        }
    }
    double noise = c->measured ? sqrt(c->squares / (double)c->measured) : 0;
    if (c->wrong)
        snprintf(c->reason, sizeof c->reason, "%s: %zu of %zu elements are beyond %g sigma",
                 expected->name, c->wrong, c->count, ENVELOPE_SIGMAS);
    else if (c->measured >= NOISE_ELEMENTS && !(noise < NOISE_LIMIT))
        snprintf(c->reason, sizeof c->reason, "%s: every element is near its bound, rms error %.2f sigma where %g is the limit",
                 expected->name, noise, NOISE_LIMIT);
    else
        c->passed = 1;
}
