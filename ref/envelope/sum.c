/* SPDX-License-Identifier: MIT */
/*
 * Letters: c row of a matrix, e column of it.
 */
#include "sum.h"

#include "../recipe/two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

struct units units_of(const struct profile *p)
{
    return (struct units){ p->u * p->u / 3, p->s * p->s / 3, p->o * p->o / 3, p->s > 0 ? p->smallest / (2 * p->s) : 0,
                           fmin(p->floor, profiles[PROFILE_FLOAT32].floor),    /* 16-bit types accumulate in float32 */
                           4 * larger(p->u, p->s) };
}

double stored_residue(const struct profile *p, double x)
{
    double r = profile_round(p, x) - x;
    return isfinite(r) ? r : 0;
}

/* to[e] += TERM(a[c], w[c][e]) for every c, w (C,n) of rows stride apart. Four rows at a
 * time: then to is read and written once for all of them. */
#define ADD_ROWS(TERM) do {                                                   \
    size_t c = 0;                                                             \
    for (; c + 4 <= C; c += 4, w += 4 * stride) {                             \
        double a0 = a[c], a1 = a[c + 1], a2 = a[c + 2], a3 = a[c + 3];        \
        FOR(e, n) to[e] += TERM(a0, w[e]) + TERM(a1, w[stride + e])           \
                         + (TERM(a2, w[2 * stride + e]) + TERM(a3, w[3 * stride + e])); \
    }                                                                         \
    for (; c < C; c++, w += stride) {                                         \
        double a0 = a[c];                                                     \
        FOR(e, n) to[e] += TERM(a0, w[e]);                                    \
    }                                                                         \
} while (0)

/* Parameters, each restrict: GCC believes it of nothing else. */
#define ROW double *restrict to, const double *restrict a, const double *restrict w, size_t C, size_t n, size_t stride

TWO_SPEEDS
static void row_add_fast(ROW)
{
#define PRODUCT(a, w) ((a) * (w))
    ADD_ROWS(PRODUCT);
}

void row_add(double *y, const double *a, const struct matrix *w)
{
    row_add_fast(y, a, w->w, w->C, w->n, w->stride);
}

TWO_SPEEDS
static void row_add_squares_fast(ROW)
{
#define SQUARE(a, w) ((a) * (w) * (w))
    ADD_ROWS(SQUARE);
}

void row_add_squares(double *y, const double *a, const struct matrix *w)
{
    row_add_squares_fast(y, a, w->w, w->C, w->n, w->stride);
}

TWO_SPEEDS
static void row_add_spread_fast(ROW, const double *restrict middle)
{
#define OFF(a, w) SQUARE(a, (w) - middle[e])
    ADD_ROWS(OFF);
}

void row_add_spread(double *y, const double *a, const struct matrix *w, const double *middle)
{
    row_add_spread_fast(y, a, w->w, w->C, w->n, w->stride, middle);
}

void row_add_lost(double *lost, const struct units *u, const double *a, const struct matrix *w)
{
    FOR(c, w->C) FOR(e, w->n) {
        double x = w->w[c * w->stride + e];
        lost[e] += flushed(u, a[c]) * fabs(x) + fabs(a[c]) * flushed(u, x);
    }
}

struct strip strip_take(double *room, const struct matrix *w, size_t first, size_t rows)
{
    size_t width = w->n - first < STRIP ? w->n - first : STRIP;

    if (width == STRIP && rows < 2 * STRIP)
        return (struct strip){ w->w + first, w->stride, w->C, width };        /* not worth copying */
    FOR(c, w->C) {
        const double *from = w->w + c * w->stride + first;
        FOR(e, width) room[c * STRIP + e] = from[e];
        for (size_t e = width; e < STRIP; e++) room[c * STRIP + e] = 0;
    }
    return (struct strip){ room, STRIP, w->C, width };
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
    double order = count / 48 * size * size;                                  /* any other order of summation */
    return larger(larger(any, natural), larger(lean, order));
}

/* terms2: the squares of the terms; partial2, partial: squares and sizes of the
 * partial sums; size: sizes of the terms. Nine parameters because restrict, which
 * lets the compiler vectorise the loop, works on parameters only. */
TWO_SPEEDS
static void strip_sum_fast(double V[restrict STRIP], double y[restrict STRIP], const struct units *u, const double *a, const double *strip, size_t stride, size_t C,
                           const double b[restrict STRIP], int biased)
{
    double sum[STRIP] = { 0 }, terms2[STRIP] = { 0 }, partial2[STRIP] = { 0 }, partial[STRIP] = { 0 }, size[STRIP] = { 0 };
    double count = (double)C, lost = count * u->tiny, lost2 = lost * lost, U = u->U, O = u->O, U_b = biased ? U : 0;

    FOR(c, C) FOR(e, STRIP) {
        double term = a[c] * strip[c * stride + e];
        sum[e] += term;
        terms2[e] += term * term;
        partial2[e] += sum[e] * sum[e];
        partial[e] += fabs(sum[e]);
        size[e] += fabs(term);
    }
    FOR(e, STRIP) {
        V[e] = 2 * O * larger(terms2[e], sum[e] * sum[e])
             + U * rounding(count, sum[e], b[e], terms2[e], partial2[e], partial[e], size[e])
             + (size[e] > 0 ? lost2 : 0)
             + U_b * (sum[e] + b[e]) * (sum[e] + b[e]);                       /* one more addition */
        y[e] = sum[e];
    }
}

void strip_sum(double V[STRIP], double y[STRIP], const struct units *u, const double *a, const struct strip *s, const double b[STRIP], int biased)
{
    strip_sum_fast(V, y, u, a, s->w, s->stride, s->C, b, biased);
}
