/* SPDX-License-Identifier: MIT */
/*
 * Letters: c row of a matrix, e column of it.
 */
#include "envelope_sum.h"

#include "two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

struct units units_of(const struct profile *p)
{
    return (struct units){ p->u * p->u / 3, p->s * p->s / 3, p->o * p->o / 3, p->s > 0 ? p->smallest / (2 * p->s) : 0,
                           fmin(p->floor, profiles[PROFILE_FLOAT32].floor),    /* 16-bit types accumulate in float32 */
                           4 * larger(p->u, p->s) };
}

double residue(const struct profile *p, double x)
{
    double r = p->smallest > 0 ? profile_round(p, x) - x : 0;
    return isfinite(r) ? r : 0;
}

/* to[e] += TERM(a[c], w[c][e]) for every c. Two rows at a time: then to is read
 * and written once for both. */
#define ADD_ROWS(y, a, w, TERM) do {                                          \
    double *restrict to = (y);                                                \
    size_t c = 0;                                                             \
    for (; c + 2 <= (w)->C; c += 2) {                                         \
        double a0 = (a)[c], a1 = (a)[c + 1];                                  \
        const double *restrict w0 = (w)->w + c * (w)->stride, *restrict w1 = w0 + (w)->stride; \
        FOR(e, (w)->n) to[e] += TERM(a0, w0[e]) + TERM(a1, w1[e]);            \
    }                                                                         \
    for (; c < (w)->C; c++) {                                                 \
        double a0 = (a)[c];                                                   \
        const double *restrict w0 = (w)->w + c * (w)->stride;                 \
        FOR(e, (w)->n) to[e] += TERM(a0, w0[e]);                              \
    }                                                                         \
} while (0)

TWO_SPEEDS
static void row_add_fast(double *y, const double *a, const struct matrix *w)
{
#define PRODUCT(a, w) ((a) * (w))
    ADD_ROWS(y, a, w, PRODUCT);
}

void row_add(double *y, const double *a, const struct matrix *w)
{
    row_add_fast(y, a, w);
}

TWO_SPEEDS
static void row_add_squares_fast(double *y, const double *a, const struct matrix *w)
{
#define SQUARE(a, w) ((a) * (w) * (w))
    ADD_ROWS(y, a, w, SQUARE);
}

void row_add_squares(double *y, const double *a, const struct matrix *w)
{
    row_add_squares_fast(y, a, w);
}

TWO_SPEEDS
static void row_add_spread_fast(double *y, const double *a, const struct matrix *w, const double *middle)
{
    const double *restrict m = middle;
#define OFF(a, w) SQUARE(a, (w) - m[e])
    ADD_ROWS(y, a, w, OFF);
}

void row_add_spread(double *y, const double *a, const struct matrix *w, const double *middle)
{
    row_add_spread_fast(y, a, w, middle);
}

void row_add_lost(double *lost, const struct units *u, const double *a, const struct matrix *w)
{
    FOR(c, w->C) FOR(e, w->n) {
        double x = w->w[c * w->stride + e];
        lost[e] += flushed(u, a[c]) * fabs(x) + fabs(a[c]) * flushed(u, x);
    }
}

size_t strip_take(double *strip, const struct matrix *w, size_t first)
{
    size_t width = w->n - first < STRIP ? w->n - first : STRIP;

    FOR(c, w->C) {
        const double *from = w->w + c * w->stride + first;
        FOR(e, width) strip[c * STRIP + e] = from[e];
        for (size_t e = width; e < STRIP; e++) strip[c * STRIP + e] = 0;
    }
    return width;
}

/* The squared length of the rounding errors of a sum of count terms and an
 * addend b, in squared unit roundoffs: the worst of four ways to go about it. */
static inline double rounding(double count, double y, double b, double terms2, double partial2, double partial, double size)
{
    double yb = y + b;
    double any = count * larger(larger(terms2, y * y), larger(b * b, yb * yb));    /* one rounding a term; the bias first or last */
    double natural = partial2;                                                /* long sums that cancel */
    double lean = partial + count * fabs(b);                                  /* errors that all lean one way: */
    lean = lean * lean / 16;                                                  /*   truncating adders, equal terms */
    double order = count * size * size / 48;                                  /* any other order of summation */
    return larger(larger(any, natural), larger(lean, order));
}

/* terms2: the squares of the terms; partial2, partial: squares and sizes of the
 * partial sums; size: sizes of the terms. */
TWO_SPEEDS
static void strip_sum_fast(double V[restrict STRIP], double y[restrict STRIP], const struct units *u, const double *a, const double *strip, size_t C, const double b[restrict STRIP])
{
    double sum[STRIP] = { 0 }, terms2[STRIP] = { 0 }, partial2[STRIP] = { 0 }, partial[STRIP] = { 0 }, size[STRIP] = { 0 };
    double count = (double)C, lost = count * u->tiny, lost2 = lost * lost, U = u->U, O = u->O;

    FOR(c, C) FOR(e, STRIP) {
        double term = a[c] * strip[c * STRIP + e];
        sum[e] += term;
        terms2[e] += term * term;
        partial2[e] += sum[e] * sum[e];
        partial[e] += fabs(sum[e]);
        size[e] += fabs(term);
    }
    FOR(e, STRIP) {
        V[e] = 2 * O * larger(terms2[e], sum[e] * sum[e])
             + U * rounding(count, sum[e], b[e], terms2[e], partial2[e], partial[e], size[e])
             + (size[e] > 0 ? lost2 : 0);
        y[e] = sum[e];
    }
}

void strip_sum(double V[STRIP], double y[STRIP], const struct units *u, const double *a, const double *strip, size_t C, const double b[STRIP])
{
    strip_sum_fast(V, y, u, a, strip, C, b);
}
