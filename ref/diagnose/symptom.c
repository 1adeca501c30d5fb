/* SPDX-License-Identifier: MIT */
/*
 * Letters: m element of a whole array, k axis.
 */
#include "symptom.h"
#include "../judge/axes.h"
#include "../store/same.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

const char *const symptom_names[SYMPTOMS] = {
    "all_zero", "all_nan", "constant", "layout", "stale", "factor", "permuted", "tail",
};

static int fits(const struct exhibit *x, double got, double expected, double sigma)
{
    if (isnan(got) || isnan(expected))
        return same_number(got, expected);
    if (isinf(got) || isinf(expected))
        return got == expected;
    return fabs(got - expected) <= ENVELOPE_SIGMAS * sigma + x->profile->floor;
}

/* Two distinct finite numbers: otherwise order and place mean nothing. */
static int varies(const struct array *a)
{
    double first = NAN;

    FOR(m, a->size) {
        if (isfinite(a->v[m]) && isnan(first))
            first = a->v[m];
        if (isfinite(a->v[m]) && a->v[m] != first)
            return 1;
    }
    return 0;
}

static int all_zero(const struct exhibit *x, double detail)
{
    (void)detail;
    FOR(m, x->got->size) if (x->got->v[m] != 0) return 0;
    return 1;
}

static int all_nan(const struct exhibit *x, double detail)
{
    (void)detail;
    FOR(m, x->got->size) if (!isnan(x->got->v[m])) return 0;
    return 1;
}

static int constant(const struct exhibit *x, double detail)
{
    (void)detail;
    FOR(m, x->got->size) if (x->got->v[m] != x->got->v[0]) return 0;
    return 1;
}

/* The numbers stand as if the axes had been written in another order. */
static int layout(const struct exhibit *x, double which)
{
    const struct array *e = x->expected;
    size_t stride[4] = { 0 }, run = 1, index[4] = { 0 };
    int order[4];

    axis_order(order, (int)which, e->ndim);
    for (int k = e->ndim; k-- > 0; run *= e->shape[k])
        stride[k] = run;
    FOR(m, e->size) {
        size_t from = 0;
        for (int k = 0; k < e->ndim; k++)
            from += index[k] * stride[order[k]];
        if (!fits(x, x->got->v[m], e->v[from], x->sigma->v[from]))
            return 0;
        for (int k = e->ndim; k-- > 0; index[k] = 0)
            if (++index[k] < e->shape[order[k]])
                break;
    }
    return 1;
}

/* What should have been there one vector earlier. */
static int stale(const struct exhibit *x, double detail)
{
    (void)detail;
    if (!varies(x->before) || x->before->size < x->got->size)
        return 0;
    FOR(m, x->got->size)
        if (!(fabs(x->got->v[m] - x->before->v[m]) <= 1e-2 * fabs(x->before->v[m]) + x->profile->floor))
            return 0;
    return 1;
}

/* The number, times which the largest finite element is right; NaN where there is none. */
static double ratio(const struct exhibit *x, size_t *top)
{
    double most = 0;

    *top = 0;
    FOR(m, x->expected->size)
        if (isfinite(x->expected->v[m]) && fabs(x->expected->v[m]) > most) {
            most = fabs(x->expected->v[m]);
            *top = m;
        }
    double c = most > 0 ? x->got->v[*top] / x->expected->v[*top] : NAN;
    return isfinite(c) && c != 0 ? c : NAN;
}

/* ... and all the others too. */
static int factor(const struct exhibit *x, double detail)
{
    size_t top;
    double c = ratio(x, &top);

    if (x->expected->size < 4)
        return -1;
    if (!(fabs(c - 1) > 1e-3) || !(fabs(c - detail) <= 1e-2 * fabs(detail)))
        return 0;
    FOR(m, x->expected->size)
        if (!fits(x, x->got->v[m] / c, x->expected->v[m], x->sigma->v[m] + x->sigma->v[top]))
            return 0;
    return 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The right numbers in wrong places. */
static int permuted(const struct exhibit *x, double detail)
{
    size_t n = x->got->size;
    double *a, *b, sigma = 0;
    int found;

    (void)detail;
    if (n < 4)
        return -1;
    FOR(m, n) if (!isfinite(x->expected->v[m])) return -1;
    FOR(m, n) if (!isfinite(x->got->v[m])) return 0;
    FOR(m, n) sigma = fmax(sigma, x->sigma->v[m]);
    a = malloc(n * sizeof *a);
    b = malloc(n * sizeof *b);
    found = a && b;
    if (found) {
        memcpy(a, x->got->v, n * sizeof *a);
        memcpy(b, x->expected->v, n * sizeof *b);
        qsort(a, n, sizeof *a, ascending);
        qsort(b, n, sizeof *b, ascending);
        found = 2 * ENVELOPE_SIGMAS * sigma * (double)n < b[n - 1] - b[0];    /* else anything sorted would do */
        FOR(m, n) if (!fits(x, a[m], b[m], sigma)) found = 0;
    }
    free(a);
    free(b);
    return found;
}

/* Every one of the last indices of the axis is wrong somewhere, and none before them. */
static int tail(const struct exhibit *x, double axis)
{
    const struct array *e = x->expected;
    size_t stride = 1, n = e->shape[(int)axis], first = n;

    for (int k = (int)axis + 1; k < e->ndim; k++)
        stride *= e->shape[k];
    FOR(m, e->size)
        if (!fits(x, x->got->v[m], e->v[m], x->sigma->v[m]) && m / stride % n < first)
            first = m / stride % n;
    if (first == 0 || first == n)
        return 0;
    for (size_t i = first; i < n; i++) {
        int wrong = 0;
        FOR(m, e->size) if (m / stride % n == i && !fits(x, x->got->v[m], e->v[m], x->sigma->v[m])) wrong = 1;
        if (!wrong)
            return 0;
    }
    return 1;
}

double symptom_detail(enum symptom symptom, const struct exhibit *x, int k)
{
    size_t top;

    if (symptom == SYMPTOM_LAYOUT)
        return k + 1 < axis_orders(x->expected->ndim) ? k + 1.0 : (double)NAN;
    if (symptom == SYMPTOM_TAIL)
        return k < x->expected->ndim ? (double)k : (double)NAN;
    if (symptom == SYMPTOM_FACTOR)
        return k == 0 ? ratio(x, &top) : NAN;
    return k == 0 ? 0 : NAN;
}

int symptom_holds(enum symptom symptom, double detail, const struct exhibit *x)
{
    static int (*const holds[SYMPTOMS])(const struct exhibit *, double) = {
        all_zero, all_nan, constant, layout, stale, factor, permuted, tail,
    };
    if (x->got->size != x->expected->size)
        return 0;
    if (x->got->size < 2 || !varies(x->expected) || (symptom == SYMPTOM_STALE && !x->before))
        return -1;
    return holds[symptom](x, detail);
}

void symptom_sentence(char text[320], enum symptom symptom, double detail, enum mha_stage stage, const struct exhibit *x)
{
    static const char *const plain[SYMPTOMS] = {
        [SYMPTOM_ZERO] = "is zero everywhere: it was cleared, but never computed",
        [SYMPTOM_NAN] = "is NaN everywhere",
        [SYMPTOM_CONSTANT] = "is one and the same number everywhere",
        [SYMPTOM_STALE] = "is that of the vector before: the kernel kept it, or computed from old inputs",
        [SYMPTOM_PERMUTED] = "has the right numbers in wrong places, in no order of its axes",
    };
    const char *name = x->expected->name;
    int n = x->expected->ndim;
    char found[48], wanted[48];

    if (plain[symptom])
        snprintf(text, 320, "%s %s", name, plain[symptom]);
    else if (symptom == SYMPTOM_FACTOR)
        snprintf(text, 320, "%s is right up to one factor: it is %.4g times what it should be", name, detail);
    else if (symptom == SYMPTOM_TAIL)
        snprintf(text, 320, "%s is wrong in the last indices of axis %s alone: a tail that is not computed, or computed from too much",
                 name, axis_name(stage, (int)detail));
    else
        snprintf(text, 320, "%s stands in another layout: %s where %s was wanted", name,
                 axis_text(found, stage, (int)detail, n), axis_text(wanted, stage, 0, n));
}
