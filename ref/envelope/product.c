/* SPDX-License-Identifier: MIT */
/*
 * Letters: t row, c channel of what comes in, e column of the product, m element of a whole array.
 */
#include "product.h"

#include "../recipe/two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

struct matrix columns(const struct array *w_t, size_t first, size_t n)
{
    return (struct matrix){ w_t->v + first, w_t->shape[0], n, w_t->shape[1] };
}

/* Nine parameters because a projection has that many: result, operands, their sizes, bias, room. */
void project_loses(double *V, size_t wide, const struct units *u, const double *x, size_t rows,
                   const struct matrix *w, const double *bias, int stored, double *strip)
{
    double sum[STRIP], y[STRIP];

    for (size_t first = 0; first < w->n; first += STRIP) {
        struct strip s = strip_take(strip, w, first, rows);
        double b[STRIP] = { 0 };
        if (bias) FOR(e, s.width) b[e] = bias[first + e];
        FOR(t, rows) {
            double *to = V + t * wide + first;
            strip_sum(sum, y, u, x + t * w->C, &s, b, bias != NULL);
            if (u->T > 0) FOR(e, STRIP)
                sum[e] += (bias ? u->T * y[e] * y[e] : 0)                     /* 16 bits: the product is stored before the bias */
                        + (stored ? store(u, y[e] + b[e]) : 0);
            if (s.width == STRIP)
                FOR(e, STRIP) to[e] += sum[e];
            else
                FOR(e, s.width) to[e] += sum[e];
        }
    }
}

void sums_lose(double *V, size_t wide, const struct units *u, const double *x, size_t rows, const struct matrix *w, double *strip)
{
    project_loses(V, wide, u, x, rows, w, NULL, 0, strip);
}

TWO_SPEEDS
static int any_flushed_fast(const struct units *u, const double *x, size_t count)
{
    size_t found = 0;
    double tiny = u->tiny;

    FOR(m, count) found += (fabs(x[m]) < tiny) & (x[m] != 0);
    return found > 0;
}

int any_flushed(const struct units *u, const struct array *w_t)
{
    return any_flushed_fast(u, w_t->v, w_t->size);
}

void operands_lose(double *V, size_t wide, const struct units *u, const double *x, size_t rows, const struct matrix *w, int flushed_w, double *lost)
{
    if (flushed_w || any_flushed_fast(u, x, rows * w->C)) FOR(t, rows) {
        FOR(e, w->n) lost[e] = 0;
        row_add_lost(lost, u, x + t * w->C, w);
        FOR(e, w->n) V[t * wide + e] += lost[e] * lost[e];
    }
}
