/* SPDX-License-Identifier: MIT */
/*
 * Letters: m element of a whole array, k axis.
 */
#include "compare.h"
#include "axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/same.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* "(3, 4, 10)" */
static void shape_text(char text[112], const struct array *a)
{
    int at = snprintf(text, 112, "(");
    for (int k = 0; k < a->ndim; k++)
        at += snprintf(text + at, 112 - (size_t)at, "%s%zu", k ? ", " : "", a->shape[k]);
    snprintf(text + at, 112 - (size_t)at, a->ndim == 1 ? ",)" : ")");
}

/* The order of the wanted axes that has the found shape, or -1. */
static int reordered(const struct array *found, const struct array *wanted)
{
    int order[4], n = wanted->ndim;

    for (int which = 1; found->ndim == n && which < axis_orders(n); which++) {
        int fits = 1;
        axis_order(order, which, n);
        for (int k = 0; k < n; k++)
            fits = fits && found->shape[k] == wanted->shape[order[k]];
        if (fits)
            return which;
    }
    return -1;
}

/* A wrong shape: what was found, what was wanted, and the transpose that would explain it. */
static void describe_shape(char reason[240], enum mha_stage stage, const struct array *found, const struct array *wanted)
{
    char is[112], want[112], names[48], other[48];
    int which = reordered(found, wanted), n = wanted->ndim;

    shape_text(is, found);
    shape_text(want, wanted);
    int at = snprintf(reason, 240, "%s: found shape %s, wanted %s = %s", wanted->name, is,
                      axis_text(names, stage, 0, n), want);
    if (at < 0 || at >= 240)
        return;
    if (which > 0)
        snprintf(reason + at, 240 - (size_t)at, "; it looks like %s: transpose it", axis_text(other, stage, which, n));
    else if (found->ndim + 1 == n && wanted->shape[0] == 1)
        snprintf(reason + at, 240 - (size_t)at, "; unbatched results have N = 1 in front");
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
    if (same_number(got, expected))
        return 0;
    if (isfinite(got) && isfinite(expected))
        return fabs(got - expected) / (sigma + p->floor / ENVELOPE_SIGMAS);
    return INFINITY;
}

struct measured { double value, sigma; };

static int ascending(const void *a, const void *b)
{
    double x = ((const struct measured *)a)->value, y = ((const struct measured *)b)->value;
    return (x > y) - (x < y);
}

/* Numbers that are nearly equal come from sums that are nearly equal, term by
 * term, and err alike: they are one measurement. How many different ones are
 * there? */
static size_t different(const struct array *expected, const struct array *sigma)
{
    struct measured *v = malloc((expected->size ? expected->size : 1) * sizeof *v);
    size_t n = 0, count = 0;
    double last = 0;

    if (!v)
        return expected->size;
    FOR(m, expected->size) if (sigma->v[m] > 0 && isfinite(expected->v[m]))
        v[n++] = (struct measured){ expected->v[m], sigma->v[m] };
    qsort(v, n, sizeof *v, ascending);
    FOR(m, n) if (m == 0 || v[m].value - last > fmax(v[m].sigma, NEARLY * fabs(v[m].value))) {
        last = v[m].value;
        count++;
    }
    free(v);
    return count;
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
        if (m > 0 && got->v[m] == expected->v[m]) {    /* most numbers: no error, and not the worst */
            c->measured += sigma->v[m] > 0;
            continue;
        }
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
    else if (c->measured >= NOISE_ELEMENTS && !(noise < p->noise) && different(expected, sigma) >= NOISE_ELEMENTS)
        snprintf(c->reason, sizeof c->reason, "%s: every element is near its bound, rms error %.2f sigma where %g is the limit",
                 expected->name, noise, p->noise);
    else
        c->passed = 1;
}
