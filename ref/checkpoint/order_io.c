/* SPDX-License-Identifier: MIT */
/* A record as arrays of double, one batch item after the other. */
#include <stdlib.h>
#include <string.h>

#include "order.h"

static const struct npz_array *argument(const struct npz *record, int which)
{
    static const char *const names[3] = { "query", "key", "value" };
    const struct npz_array *a = NULL;

    for (int k = which; k >= 0 && !a; k--)
        a = npz_get(record, names[k]);
    return a;
}

/* Copy (N,T,C), (T,N,C) or (T,C) to (N,T,C). Returns NULL without memory. */
static double *copy_rows(const struct npz_array *a, int batch_first, size_t N, size_t T, size_t C)
{
    double *y = malloc((a->size + 1) * sizeof *y);

    for (size_t n = 0; n < N && y; n++)
        for (size_t t = 0; t < T; t++)
            for (size_t c = 0; c < C; c++)
                y[(n * T + t) * C + c] = npz_value(a, (batch_first ? n * T + t : t * N + n) * C + c);
    return y;
}

static double *copy_numbers(const struct npz_array *a)
{
    double *y = malloc((a->size + 1) * sizeof *y);

    if (y)
        npz_values(y, a);
    return y;
}

static const char *read_arguments(struct io *io, const struct npz *record, int batch_first, const struct weights *w, char error[600])
{
    static const char *const names[3] = { "query", "key", "value" };
    const struct npz_array *a[3];
    char shape[2][128];

    for (int which = 0; which < 3; which++) {
        a[which] = argument(record, which);
        if (!a[which] || a[which]->ndim < 2 || a[which]->ndim > 3)
            return say(error, 600, "%s: %s in the record, wanted the %s that forward() was given", names[which],
                       a[which] ? "found not 2 or 3 dimensions" : "missing", names[which]);
        if (a[which]->ndim != a[0]->ndim)
            return say(error, 600, "%s: found %d dimensions in the record, and %d of query", names[which], a[which]->ndim, a[0]->ndim);
        io->width[which] = a[which]->shape[a[which]->ndim - 1];
    }
    io->batched = a[0]->ndim == 3;
    int item = batch_first ? 0 : 1, row = io->batched ? !item : 0;
    io->N = io->batched ? a[0]->shape[item] : 1;
    io->L = a[0]->shape[row];
    io->S = a[1]->shape[row];
    for (int which = 1; which < 3; which++)
        if ((io->batched && a[which]->shape[item] != io->N) || a[which]->shape[row] != io->S)
            return say(error, 600, "%s: found shape %s in the record, query %s", names[which], npz_shape_text(shape[0], a[which]), npz_shape_text(shape[1], a[0]));
    if (io->width[0] != w->inputs[0] && w->inputs[0] == w->inputs[1] && w->inputs[0] == w->inputs[2])
        return say(error, 600, "query: found %zu channels in the record, wanted E = %zu", io->width[0], w->inputs[0]);
    if (!io->N || !io->L || !io->S || !io->width[0] || !io->width[1] || !io->width[2])
        return say(error, 600, "query, key or value of the record are empty");
    for (int which = 0; which < 3; which++)
        if (!(io->rows[which] = copy_rows(a[which], batch_first || !io->batched, io->N, which ? io->S : io->L, io->width[which])))
            return say(error, 600, "not enough memory for the record");
    return NULL;
}

/* Read an array with the shape of query, but for its last dimension of width. */
static const char *read_result(double **to, const struct npz *record, const char *name, int batch_first, const struct io *io, size_t width, char error[600])
{
    const struct npz_array *a = npz_get(record, name), *query = npz_get(record, "query");
    char shape[2][128];

    if (!a || a->ndim != query->ndim || a->size != io->N * io->L * width || a->shape[a->ndim - 1] != width
        || memcmp(a->shape, query->shape, (size_t)(a->ndim - 1) * sizeof *a->shape))
        return say(error, 600, "%s: %s in the record, wanted the shape of query, %s, with %zu channels", name,
                   a ? npz_shape_text(shape[0], a) : "missing", npz_shape_text(shape[1], query), width);
    if (!(*to = copy_rows(a, batch_first || !io->batched, io->N, io->L, width)))
        return say(error, 600, "not enough memory for the record");
    return NULL;
}

static const char *read_masks(struct io *io, const struct npz *record, char error[600])
{
    char shape[128];

    io->mask = npz_get(record, "attn_mask");
    io->padding = npz_get(record, "key_padding_mask");
    if (io->mask && (io->mask->ndim < 2 || io->mask->shape[io->mask->ndim - 1] != io->S || io->mask->shape[io->mask->ndim - 2] != io->L))
        return say(error, 600, "attn_mask: found shape %s in the record, wanted (%zu, %zu) as its last dimensions", npz_shape_text(shape, io->mask), io->L, io->S);
    if (io->padding && (io->padding->size != io->N * io->S || io->padding->shape[io->padding->ndim - 1] != io->S))
        return say(error, 600, "key_padding_mask: found shape %s in the record, wanted (%zu, %zu)", npz_shape_text(shape, io->padding), io->N, io->S);
    return NULL;
}

/* Read cos and sin: (L,R), (N,L,R) or with dimensions of 1. */
static const char *read_rotation(struct io *io, const struct npz *record, char error[600])
{
    const struct npz_array *c = npz_get(record, "cos"), *s = npz_get(record, "sin");
    char shape[128];

    if (!c && !s)
        return NULL;
    if (!c || !s || c->size != s->size || c->ndim < 2 || !c->size)
        return say(error, 600, "cos and sin: wanted both, of one shape");
    io->R = c->shape[c->ndim - 1];
    io->rope_items = c->size / io->R == io->L ? 1 : io->N;
    if (c->size != io->rope_items * io->L * io->R || io->L != io->S)
        return say(error, 600, "cos: found shape %s in the record, wanted (%zu, R) or (%zu, %zu, R)", npz_shape_text(shape, c), io->L, io->N, io->L);
    if (!(io->cos = copy_numbers(c)) || !(io->sin = copy_numbers(s)))
        return say(error, 600, "not enough memory for the record");
    return NULL;
}

const char *io_read(struct io *io, const struct npz *record, int batch_first, const struct weights *w, char error[600])
{
    const struct npz_array *zero = npz_get(record, "add_zero_attn");
    const char *wrong;

    *io = (struct io){ .O = w->O, .zero_row = zero && zero->size && npz_value(zero, 0) != 0 };
    if (!(wrong = read_arguments(io, record, batch_first, w, error)) && !(wrong = read_result(&io->output, record, "output", batch_first, io, w->O, error))
        && !(wrong = read_masks(io, record, error)) && !(wrong = read_rotation(io, record, error)) && npz_get(record, "residual"))
        wrong = read_result(&io->residual, record, "residual", batch_first, io, w->O, error);
    if (wrong)
        io_free(io);
    return wrong;
}

void io_free(struct io *io)
{
    for (int which = 0; which < 3; which++) {
        free(io->rows[which]);
        io->rows[which] = NULL;
    }
    free(io->output);
    free(io->residual);
    free(io->cos);
    free(io->sin);
    io->output = io->residual = io->cos = io->sin = NULL;
}
