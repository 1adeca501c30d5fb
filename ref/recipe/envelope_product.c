/* SPDX-License-Identifier: MIT */
/*
 * Letters: t row, c channel of what comes in, e column of the product, m element of a whole array.
 */
#include "envelope_product.h"

#include "two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

struct matrix columns(const struct array *w_t, size_t first, size_t n)
{
    return (struct matrix){ w_t->v + first, w_t->shape[0], n, w_t->shape[1] };
}

void sums_lose(double *V, size_t wide, const struct units *u, const double *x, size_t rows, const struct matrix *w, double *strip)
{
    static const double none[STRIP];
    double sum[STRIP], y[STRIP];

    for (size_t first = 0; first < w->n; first += STRIP) {
        size_t width = strip_take(strip, w, first);
        FOR(t, rows) {
            strip_sum(sum, y, u, x + t * w->C, strip, w->C, none);
            FOR(e, width) V[t * wide + first + e] += sum[e];
        }
    }
}

void project_loses(double *V, size_t wide, const struct units *u, const double *x, size_t rows,
                    const struct matrix *w, const double *bias, int stored, double *strip)
{
    double sum[STRIP], y[STRIP];

    for (size_t first = 0; first < w->n; first += STRIP) {
        size_t width = strip_take(strip, w, first);
        double b[STRIP] = { 0 };
        if (bias) FOR(e, width) b[e] = bias[first + e];
        FOR(t, rows) {
            strip_sum(sum, y, u, x + t * w->C, strip, w->C, b);
            if (bias) FOR(e, STRIP) {
                double yb = y[e] + b[e];
                sum[e] += u->U * yb * yb                                      /* one more addition */
                        + u->T * y[e] * y[e];                                 /* 16 bits: the product is stored before it */
            }
            if (stored) FOR(e, STRIP) sum[e] += store(u, y[e] + b[e]);
            FOR(e, width) V[t * wide + first + e] += sum[e];
        }
    }
}

TWO_SPEEDS
static int any_flushed_fast(const struct units *u, const double *x, size_t count)
{
    size_t found = 0;
    double tiny = u->tiny;

    FOR(m, count) found += (fabs(x[m]) < tiny) & (x[m] != 0);
    return found > 0;
}

int any_flushed(const struct units *u, const double *x, size_t count)
{
    return any_flushed_fast(u, x, count);
}

void operands_lose(double *V, size_t wide, const struct units *u, const double *x, size_t rows, const struct matrix *w, int flushed_w, double *lost)
{
    if (flushed_w || any_flushed(u, x, rows * w->C)) FOR(t, rows) {
        FOR(e, w->n) lost[e] = 0;
        row_add_lost(lost, u, x + t * w->C, w);
        FOR(e, w->n) V[t * wide + e] += lost[e] * lost[e];
    }
}
