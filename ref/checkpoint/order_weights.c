/* SPDX-License-Identifier: MIT */
/* The numbers of a layer and of a record, put together under one reading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../corpus/vector.h"
#include "order.h"

/* ---- parameters ---- */

static const char *numbers(double **x, const struct tensor *t, char error[SENTENCE])
{
    struct npz z = { 0 };
    const char *wrong = t ? checkpoint_take(&z, "x", t, error) : NULL;

    if (t && !wrong) {
        size_t n = z.arrays[0].size;
        if (!(*x = malloc((n ? n : 1) * sizeof **x)))
            wrong = say(error, SENTENCE, "not enough memory for its numbers");
        for (size_t i = 0; i < n && !wrong; i++)
            (*x)[i] = npz_value(&z.arrays[0], i);
    }
    npz_free(&z);
    return wrong;
}

/* Three biases of their own become one packed bias, as PyTorch's. */
static const char *biases(struct weights *w, const struct layer *layer, char error[SENTENCE])
{
    const char *wrong = NULL;

    if (!layer->naming->bias[1])
        return numbers(&w->bias, layer->bias[0], error);
    if (!layer->bias[0] && !layer->bias[1] && !layer->bias[2])
        return NULL;
    if (!(w->bias = calloc(3 * w->E, sizeof *w->bias)))
        return say(error, SENTENCE, "not enough memory for its biases");
    for (size_t s = 0; s < 3 && !wrong; s++) {
        double *one = NULL;
        wrong = numbers(&one, layer->bias[s], error);
        if (!wrong && one)
            memcpy(w->bias + s * w->E, one, w->E * sizeof *one);
        free(one);
    }
    return wrong;
}

const char *weights_take(struct weights *w, const struct layer *layer, char error[SENTENCE])
{
    const char *wrong = NULL;

    *w = (struct weights){ .E = layer->E, .width = { layer->E, layer->Ek, layer->Ev }, .separate = layer_separate(layer), .rows = 1, .columns = 1 };
    if (!layer_plain(layer))
        return say(error, SENTENCE, "fewer key heads than query heads, or another width than E: no layer of nn.MultiheadAttention");
    if (!layer->out_weight)
        return say(error, SENTENCE, "no %s beside its weights, without which no output can be reproduced", layer->naming->out_weight);
    for (int s = 0; s < 3 && !wrong; s++) {
        if (!layer->weight[s])
            continue;
        w->rows &= layer->weight[s]->shape[0] == w->E;
        w->columns &= layer->weight[s]->shape[1] == w->E;
        wrong = numbers(&w->part[s], layer->weight[s], error);
    }
    if (!wrong)
        wrong = biases(w, layer, error);
    if (!wrong)
        wrong = numbers(&w->out, layer->out_weight, error);
    if (!wrong)
        wrong = numbers(&w->out_bias, layer->out_bias, error);
    if (!wrong)
        wrong = numbers(&w->bias_k, layer->bias_k, error);
    if (!wrong)
        wrong = numbers(&w->bias_v, layer->bias_v, error);
    /* A module has both biases or none; other programs may have one of them. */
    if (!wrong && !w->bias != !w->out_bias && !(*(w->bias ? &w->out_bias : &w->bias) = calloc(3 * w->E, sizeof(double))))
        wrong = say(error, SENTENCE, "not enough memory for its biases");
    if (wrong)
        weights_free(w);
    return wrong;
}

void weights_free(struct weights *w)
{
    for (int s = 0; s < 3; s++)
        free(w->part[s]);
    free(w->bias);
    free(w->out);
    free(w->out_bias);
    free(w->bias_k);
    free(w->bias_v);
    *w = (struct weights){ 0 };
}

double weights_get(const struct weights *w, enum storing storing, size_t output, size_t input)
{
    size_t E = w->E, s = output / E, e = output % E;

    if (!w->separate)
        return w->part[0][layout_index(storing, &(struct outputs){ E, { E, E, E }, 0 }, output, input)];
    return w->part[s][storing == STORED_BLOCKS ? input * E + e : e * w->width[s] + input];
}

size_t weights_output(const struct weights *w, const struct reading *r, int which, size_t e)
{
    return layout_output(&r->layout, &(struct outputs){ w->E, { w->E, w->E, w->E }, r->H }, which, e);
}

int reading_fits(const struct weights *w, const struct layout *l, size_t query, size_t key, size_t value)
{
    const size_t wanted[3] = { query, key, value };

    if (w->separate && (l->portions != PORTIONS_WHOLE || !(l->storing == STORED_ROWS ? w->rows : l->storing == STORED_BLOCKS ? w->columns : 0)))
        return 0;
    for (int which = 0; which < 3; which++)
        if (wanted[which] != (w->separate ? w->width[l->slot[which]] : w->E))
            return 0;
    return 1;
}

/* ---- a vector ---- */

static const struct npz_array *argument(const struct npz *record, const char *name)
{
    const struct npz_array *a = npz_get(record, name);

    if (!a && !strcmp(name, "value"))
        return argument(record, "key");
    return !a && !strcmp(name, "key") ? argument(record, "query") : a;
}

static const char *put_argument(struct npz *z, const struct npz *record, const char *name)
{
    const struct npz_array *from = argument(record, name);
    struct npz_array *to;

    if (!from)
        return NULL;
    if (!(to = npz_add(z, name, from->type, from->ndim, from->shape)))
        return z->error;
    memcpy(to->data, from->data, from->size * npz_type_size(from->type));
    return NULL;
}

static const char *put_whole(struct npz *z, const char *name, size_t x)
{
    struct npz_array *a = npz_add(z, name, NPZ_I8, 0, NULL);

    if (!a)
        return z->error;
    npz_set(a, 0, (double)x);
    return NULL;
}

static const char *put_numbers(struct npz *z, const char *name, const double *x, size_t rows, size_t columns)
{
    struct npz_array *a = x ? npz_add(z, name, NPZ_F8, columns ? 2 : 1, (size_t[]){ rows, columns }) : NULL;

    if (!a)
        return x ? z->error : NULL;
    memcpy(a->data, x, a->size * sizeof *x);
    return NULL;
}

/* Rows of the weight of q, k or v from row at of an array on. */
static void fill(struct npz_array *a, size_t at, int which, const struct weights *w, const struct reading *r)
{
    size_t X = a->shape[1];

    for (size_t e = 0; e < w->E; e++)
        for (size_t i = 0; i < X; i++)
            npz_set(a, (at + e) * X + i, weights_get(w, r->layout.storing, weights_output(w, r, which, e), i));
}

static const char *put_weights(struct npz *z, const struct weights *w, const struct reading *r, const size_t width[3], int blank)
{
    static const char *const names[3] = { "q_proj_weight", "k_proj_weight", "v_proj_weight" };
    size_t E = w->E;
    int packed = width[0] == E && width[1] == E && width[2] == E;
    struct npz_array *a = packed ? npz_add(z, "in_proj_weight", NPZ_F8, 2, (size_t[]){ 3 * E, E }) : NULL;

    for (int which = 0; which < 3; which++) {
        if (!packed)
            a = npz_add(z, names[which], NPZ_F8, 2, (size_t[]){ E, width[which] });
        if (!a)
            return z->error;
        if (!blank)
            fill(a, packed ? (size_t)which * E : 0, which, w, r);
    }
    if (w->bias && !(a = npz_add(z, "in_proj_bias", NPZ_F8, 1, (size_t[]){ 3 * E })))
        return z->error;
    if (w->bias && !blank)
        for (int which = 0; which < 3; which++)
            for (size_t e = 0; e < E; e++)
                npz_set(a, (size_t)which * E + e, w->bias[weights_output(w, r, which, e)]);
    if (!(a = npz_add(z, "out_proj.weight", NPZ_F8, 2, (size_t[]){ E, E })))
        return z->error;
    for (size_t e = 0; e < E; e++)
        for (size_t i = 0; i < E; i++)
            npz_set(a, e * E + i, w->out[r->out_transposed ? i * E + e : e * E + i]);
    return NULL;
}

static const char *put_all(struct npz *z, const struct weights *w, const struct npz *record, const struct reading *r, const size_t width[3], int blank)
{
    static const char *const arguments[] = { "query", "key", "value", "attn_mask", "key_padding_mask" };
    const struct npz_array *zero = npz_get(record, "add_zero_attn");
    const size_t sizes[] = { 1, w->E, width[1], width[2], r->H, (size_t)r->batch_first, zero && zero->size && npz_value(zero, 0) != 0, 0 };
    static const char *const names[] = { "format", "embed_dim", "kdim", "vdim", "num_heads", "batch_first", "add_zero_attn", "is_causal" };
    const char *wrong = NULL;

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && !wrong; k++)
        wrong = put_whole(z, names[k], sizes[k]);
    if (!wrong && !npz_add(z, "dropout", NPZ_F8, 0, NULL))
        wrong = z->error;
    for (size_t k = 0; k < sizeof arguments / sizeof *arguments && !wrong; k++)
        wrong = put_argument(z, record, arguments[k]);
    if (!wrong && !(wrong = put_weights(z, w, r, width, blank))
               && !(wrong = put_numbers(z, "out_proj.bias", w->out_bias, w->E, 0))
               && !(wrong = put_numbers(z, "bias_k", w->bias_k, w->E, 0)))
        wrong = put_numbers(z, "bias_v", w->bias_v, w->E, 0);
    return wrong;
}

const char *reading_vector(struct vector *v, const struct weights *w, const struct npz *record, const struct reading *r, int blank, char error[600])
{
    static const char *const names[3] = { "query", "key", "value" };
    struct npz z = { 0 };
    size_t width[3];
    const char *wrong;

    for (int which = 0; which < 3; which++) {
        const struct npz_array *a = argument(record, names[which]);
        if (!a || a->ndim < 2)
            return say(error, 600, "%s: %s in the record, wanted what forward() was given", names[which], a ? "found fewer than 2 dimensions" : "missing");
        width[which] = a->shape[a->ndim - 1];
    }
    if (!width[1] || !width[2])
        return say(error, 600, "key and value of the record have no channels");
    if ((wrong = put_all(&z, w, record, r, width, blank))) {
        say(error, 600, "%s", wrong);
        npz_free(&z);
        return error;
    }
    if ((wrong = vector_from(v, &z, "record")))
        return say(error, 600, "%s", v->error);
    return NULL;
}

double *record_output(const struct npz *record, int batch_first, size_t N, size_t L, size_t E)
{
    const struct npz_array *a = npz_get(record, "output");
    double *y = a ? malloc((a->size ? a->size : 1) * sizeof *y) : NULL;

    for (size_t n = 0; n < N && y; n++)
        for (size_t i = 0; i < L; i++)
            for (size_t e = 0; e < E; e++)
                y[(n * L + i) * E + e] = npz_value(a, (batch_first ? n * L + i : i * N + n) * E + e);
    return y;
}
