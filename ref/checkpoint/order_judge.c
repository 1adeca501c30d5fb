/* SPDX-License-Identifier: MIT */
/*
 * A reading whose steps no envelope covers, judged on the whole record against
 * a run with rounding: how far rounding each step of the same reading moves the
 * output gives the size of an honest error.
 */
#include <math.h>
#include <stdlib.h>

#include "order.h"

enum { ITEMS = 2, QUERIES = 16 };    /* rows of the run with rounding */

/* The rms error may be this many times that of the run with rounding: other
 * orders of summation, and functions that are off by some units in the last place. */
#define ROUNDING_AT_MOST 4

static double rms_between(const double *a, const double *b, size_t count, size_t *unlike)
{
    double squares = 0;
    size_t finite = 0;

    for (size_t m = 0; m < count; m++) {
        if (!isfinite(a[m]) != !isfinite(b[m]))
            ++*unlike;
        if (isfinite(a[m]) && isfinite(b[m])) {
            squares += (a[m] - b[m]) * (a[m] - b[m]);
            finite++;
        }
    }
    return finite ? sqrt(squares / (double)finite) : 0;
}

/* Find the number of valid keys of each item with which a padding fits best. out has room for the record. */
static int find_lengths(size_t *lengths, double *out, const struct products *p, const struct io *io, const struct weights *w, const struct reading *r)
{
    size_t size = io->L * io->O, unlike = 0;
    double *best = malloc(io->N * sizeof *best);
    size_t *tried = malloc(io->N * sizeof *tried);
    int ok = best && tried;

    for (size_t length = 1; length <= io->S && ok; length++) {
        for (size_t n = 0; n < io->N; n++)
            tried[n] = length;
        ok = steps_run(out, p, io, w, r, &(struct output_part){ NULL, io->O, tried }, NULL);
        for (size_t n = 0; n < io->N && ok; n++) {
            double error = rms_between(out + n * size, io->output + n * size, size, &unlike);
            if (length == 1 || error < best[n]) {
                best[n] = error;
                lengths[n] = length;
            }
        }
    }
    free(best);
    free(tried);
    return ok;
}

/* Work out the rms rounding error of a part of the record; out holds the exact run. */
static int rounding_error(double *noise, const double *out, const struct io *io, const struct weights *w, const struct reading *r,
                          const size_t *lengths, const struct profile *p)
{
    size_t N = io->N < ITEMS ? io->N : ITEMS, L = io->L < QUERIES ? io->L : QUERIES, unlike = 0;
    struct products products;
    double *rounded = malloc(N * L * io->O * sizeof *rounded), squares = 0;
    int ok = rounded && products_make(&products, io, w, r, N, L, p);

    if (ok) {
        ok = steps_run(rounded, &products, io, w, r, &(struct output_part){ NULL, io->O, lengths }, p);
        products_free(&products);
    }
    for (size_t n = 0; n < N && ok; n++) {
        double error = rms_between(rounded + n * L * io->O, out + n * io->L * io->O, L * io->O, &unlike);
        squares += error * error / (double)N;
    }
    *noise = sqrt(squares);
    free(rounded);
    return ok;
}

const char *judge_by_rounding(struct judged *judged, const struct io *whole, const struct weights *w, const struct reading *r, const struct profile *p)
{
    struct io first = *whole, *io = &first;
    size_t item = products_size(whole, w);

    if (item > PRODUCTS_AT_MOST)
        return "the record is too long: L, S and E multiply to more than 2^27 numbers; record fewer rows";
    if (io->N > PRODUCTS_AT_MOST / item)    /* the first items of very many */
        io->N = PRODUCTS_AT_MOST / item;
    size_t count = io->N * io->L * io->O, *lengths = NULL, unlike = 0, none = 0;
    struct products products;
    double *out = malloc(count * sizeof *out), *zero = calloc(count, sizeof *zero), noise = 0;
    int ok = out && zero && products_make(&products, io, w, r, io->N, io->L, NULL);

    *judged = (struct judged){ .reading = *r, .by_rounding = 1, .noise = NAN };
    if (ok) {
        if (r->steps.mask >= MASK_PADDED)
            ok = (lengths = malloc(io->N * sizeof *lengths)) && find_lengths(lengths, out, &products, io, w, r);
        ok = ok && steps_run(out, &products, io, w, r, &(struct output_part){ NULL, io->O, lengths }, NULL) && rounding_error(&noise, out, io, w, r, lengths, p);
        products_free(&products);
    }
    if (ok) {
        double size = rms_between(io->output, zero, count, &none), error = rms_between(out, io->output, count, &unlike);
        double least = (p->s > 0 ? p->s : p->u) * size;    /* of the output itself */
        noise = noise > least / 4 ? noise : least / 4;
        judged->error_sigma = noise > 0 ? error / noise : error > 0 ? INFINITY : 0;
        judged->passed = !unlike && judged->error_sigma <= ROUNDING_AT_MOST;
        say(judged->reason, sizeof judged->reason, "off by %.3g of the output's rms%s", size > 0 ? error / size : error,
            unlike ? ", and other elements are not finite" : "");
    }
    free(out);
    free(zero);
    free(lengths);
    return ok ? NULL : "not enough memory for the record";
}
