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
                           4 * larger(p->u, p->s), 1.7 * larger(larger(p->u, p->s), 0x1p-40) };
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

/* What is known of a sum of count terms: its value y; of the terms t and the partial sums P in natural order
 * sum t², sum |t|, sum P², sum |P|; lanes: the largest sum |P| of 2 to 16 interleaved accumulators. */
struct summed { double count, y, terms2, size, partial2, partial, lanes; };

/* The squared length of the rounding errors of a sum and an addend b, in squared
 * unit roundoffs: the worst of five ways to go about it. */
static inline double rounding(const struct summed *s, double b)
{
    double yb = s->y + b;
    double any = s->count * larger(larger(s->terms2, s->y * s->y), larger(b * b, yb * yb));    /* one rounding a term; the bias first or last */
    double natural = s->partial2;                                             /* long sums that cancel */
    double lean = larger(s->partial, s->lanes) + s->count * fabs(b);          /* errors that all lean one way: truncating adders, equal terms */
    double order = s->count / 48 * s->size * s->size;                         /* any other order of summation */
    int equal = s->size * s->size >= (1 - 0x1p-20) * s->count * s->terms2;    /* by Cauchy and Schwarz never more */
    lean = lean * lean * (equal ? 4.0 / 9 : 1.0 / 16);
    return larger(larger(any, natural), larger(lean, order));
}

/* ---- interleaved accumulators ---- */

size_t lanes_step(size_t count)
{
    size_t eighth = (count + 7) / 8;

    return (eighth + LANES - 1) / LANES * LANES;
}

/* sizes (4,STRIP) += each times the sizes of the accumulators sum (LANES,STRIP), for 2, 4, 8 and 16
 * of them; not for so many that they cannot err more than the other orders of summation allow for. */
static inline void lanes_see(double sizes[restrict 4 * STRIP], double sum[restrict LANES * STRIP], double terms, double count)
{
    for (size_t k = 4, lanes = LANES; k-- > 0; lanes /= 2) {
        double each = 3 * count > (double)(lanes * lanes) ? terms / (double)lanes : 0;
        if (each > 0) FOR(r, lanes) FOR(e, STRIP) sizes[k * STRIP + e] += each * fabs(sum[r * STRIP + e]);
        FOR(m, lanes / 2 * STRIP) sum[m] += sum[m + lanes / 2 * STRIP];
    }
}

/* lean (STRIP): the largest sum |P| of a row times a strip by interleaved accumulators: r of LANES
 * adds up the terms r, r + LANES, ...; all are seen every lanes_step() terms. */
TWO_SPEEDS
static void strip_lanes(double lean[restrict STRIP], const double *restrict a, const double *restrict w, size_t stride, size_t C)
{
    double lane[LANES * STRIP] = { 0 }, seen[LANES * STRIP], sizes[4 * STRIP] = { 0 };
    size_t step = lanes_step(C);

    for (size_t first = 0; first < C; first += step) {
        size_t last = first + step < C ? first + step : C;
        FOR(r, LANES) {
            double sum[STRIP];
            FOR(e, STRIP) sum[e] = lane[r * STRIP + e];
            for (size_t c = first + r; c < last; c += LANES)
                FOR(e, STRIP) sum[e] += a[c] * w[c * stride + e];
            FOR(e, STRIP) lane[r * STRIP + e] = sum[e];
        }
        FOR(m, LANES * STRIP) seen[m] = lane[m];
        size_t next = last + step < C ? last + step : C;
        lanes_see(sizes, seen, (double)(next - first) / 2, (double)C);        /* between two looks a sum goes straight */
    }
    FOR(e, STRIP) lean[e] = larger(larger(sizes[e], sizes[STRIP + e]), larger(sizes[2 * STRIP + e], sizes[3 * STRIP + e]));
}

/* ---- a row times a strip ---- */

/* The largest sum |P| of interleaved accumulators is handed over in lanes. Ten parameters because
 * restrict, which lets the compiler vectorise the loop, works on parameters only. */
TWO_SPEEDS
static void strip_sum_fast(double V[restrict STRIP], double y[restrict STRIP], const struct units *u, const double *a, const double *strip, size_t stride, size_t C,
                           const double lanes[restrict STRIP], const double b[restrict STRIP], int biased)
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
        struct summed s = { count, sum[e], terms2[e], size[e], partial2[e], partial[e], lanes[e] };
        V[e] = 2 * O * larger(terms2[e], sum[e] * sum[e])
             + U * rounding(&s, b[e])
             + (size[e] > 0 ? lost2 : 0)
             + U_b * (sum[e] + b[e]) * (sum[e] + b[e]);                       /* one more addition */
        y[e] = sum[e];
    }
}

void strip_sum(double V[STRIP], double y[STRIP], const struct units *u, const double *a, const struct strip *s, const double b[STRIP], int biased)
{
    double lanes[STRIP];

    if (s->C < LANES_LEAST)
        FOR(e, STRIP) lanes[e] = 0;
    else
        strip_lanes(lanes, a, s->w, s->stride, s->C);
    strip_sum_fast(V, y, u, a, s->w, s->stride, s->C, lanes, b, biased);
}
