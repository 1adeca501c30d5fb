/* SPDX-License-Identifier: MIT */
/* Time against arithmetic, for the plot and its slope. */
#include <math.h>
#include <stdio.h>

#include "../../ref/envelope/envelope.h"
#include "bench.h"

struct layer {
    struct vector v;
    struct array t[STAGES];
};

static void forward(void *context)
{
    struct layer *l = context;

    mha_forward(l->t, &l->v.in);
}

/* Multiplications of the four projections and of the two products of attention. */
static double products(double L, double E)
{
    return 4 * L * E * E + 2 * L * L * E;
}

/* The exponent of a power law through (x, y), by least squares of logarithms. */
static double slope(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xy = 0, xx = 0;

    for (size_t k = 0; k < n; k++)
        mx += log(x[k]) / (double)n, my += log(y[k]) / (double)n;
    for (size_t k = 0; k < n; k++)
        xy += (log(x[k]) - mx) * (log(y[k]) - my), xx += (log(x[k]) - mx) * (log(x[k]) - mx);
    return xy / xx;
}

void bench_scaling(struct bench *b)
{
    static const size_t size[][2] = {    /* L, E */
        { 4, 16 }, { 8, 16 }, { 8, 32 }, { 16, 32 }, { 16, 64 }, { 32, 64 }, { 64, 64 }, { 32, 128 }, { 128, 64 }, { 64, 128 },
        { 128, 128 }, { 64, 256 }, { 256, 128 }, { 128, 256 }, { 512, 128 }, { 256, 256 }, { 128, 512 }, { 1024, 128 },
        { 512, 256 }, { 256, 512 }, { 1024, 256 }, { 512, 512 }, { 256, 1024 }, { 2048, 256 }, { 1024, 512 }, { 512, 1024 },
        { 2048, 512 }, { 1024, 1024 }, { 2048, 1024 },
    };
    enum { SIZES = sizeof size / sizeof *size };
    double x[SIZES], y[SIZES];
    size_t count = b->quick ? 8 : SIZES, from = 0;
    char name[1024];

    snprintf(name, sizeof name, "%s/scaling.dat", b->work);
    FILE *f = fopen(name, "w");
    if (!f) {
        b->failed++;
        return;
    }
    fprintf(f, "# L, E, multiplications, time in that of L=128 E=128; H=8\n");
    for (size_t k = 0; k < count; k++) {
        struct layer l;
        if (make_case(&l.v, 1, size[k][0], size[k][0], size[k][1], 8) || mha_alloc(l.t, &l.v.in)) {
            b->failed++;
            fclose(f);
            return;
        }
        x[k] = products((double)size[k][0], (double)size[k][1]);
        y[k] = time_of(forward, &l, b->quick);
        mha_free(l.t);
        vector_free(&l.v);
    }
    for (size_t k = 0; k < count; k++)    /* ratios alone: seconds are the machine's business */
        fprintf(f, "%zu %zu %.0f %.4g\n", size[k][0], size[k][1], x[k], y[k] / y[count > 10 ? 10 : count - 1]);
    fclose(f);
    while (from + 4 < count && x[from] < 1e6)    /* small ones measure the calls */
        from++;
    row(b, "time grows as a power of the arithmetic, from 10^6 multiplications to L=2048 E=1024: its exponent",
        slope(x + from, y + from, count - from), AT_MOST, 1.1, "");
}
