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

/* Three biases of their own are put one behind the other, as PyTorch's are. */
static const char *read_biases(struct weights *w, const struct layer *layer, char error[SENTENCE])
{
    const char *wrong = NULL;
    size_t at = 0;

    w->own_biases = layer->naming->bias[1] != NULL;
    if (!w->own_biases)
        return numbers(&w->bias, layer->bias[0], error);
    if (!layer->bias[0] && !layer->bias[1] && !layer->bias[2])
        return NULL;
    if (!(w->bias = calloc(w->rows[0] + w->rows[1] + w->rows[2], sizeof *w->bias)))
        return say(error, SENTENCE, "not enough memory for its biases");
    for (size_t s = 0; s < 3 && !wrong; at += w->rows[s++]) {
        double *x = NULL;
        wrong = numbers(&x, layer->bias[s], error);
        if (!wrong && x)
            memcpy(w->bias + at, x, w->rows[s] * sizeof *x);
        free(x);
    }
    return wrong;
}

static size_t size_of(const struct tensor *t)
{
    size_t size = 1;

    for (int k = 0; k < t->ndim; k++)
        size *= t->shape[k];
    return size;
}

/* Read a norm of q or k below the layer's prefix, if its size is that of one head or of all. */
static const char *read_head_norm(double **weight, double **bias, size_t *size, size_t rows, const struct layer *layer, const struct checkpoint *c,
                                  const char *const *names, char error[SENTENCE])
{
    size_t length = layer->length ? layer->length + 1 : 0;
    char key[NAMING_KEY];
    const char *wrong = NULL;

    for (; *names && !*weight && !wrong; names++) {
        snprintf(key, sizeof key, "%s.weight", *names);
        const struct tensor *t = checkpoint_get(c, layer->prefix, length, key);
        if (!t || t->type == TENSOR_OTHER || !size_of(t) || rows % size_of(t))
            continue;
        *size = size_of(t);
        wrong = numbers(weight, t, error);
        snprintf(key, sizeof key, "%s.bias", *names);
        t = checkpoint_get(c, layer->prefix, length, key);
        if (!wrong && t && t->type != TENSOR_OTHER && size_of(t) == *size)
            wrong = numbers(bias, t, error);
    }
    return wrong;
}

/* Read the norms beside the layer, through which its input may have gone. */
static const char *read_norms(struct weights *w, const struct layer *layer, const struct checkpoint *c, char error[SENTENCE])
{
    static const char *const names[] = { "norm1", "norm_1", "ln_1", "ln1", "input_layernorm", "layer_norm", "layer_norm1", "self_attn_layer_norm",
                                         "attention_norm", "attn_norm", "layernorm_before", "ln_attn", "norm", "pre_norm", "layer_norm_1" };
    size_t parent = layer->length;
    char key[NAMING_KEY];
    const char *wrong = NULL;

    while (parent && layer->prefix[parent - 1] != '.' && layer->prefix[parent - 1] != '/')
        parent--;
    w->norms = 1;    /* norm 0 has no weights */
    for (size_t k = 0; k < sizeof names / sizeof *names && w->norms < ORDER_NORMS && layer->length && !wrong; k++) {
        struct norm *norm = &w->norm[w->norms];
        snprintf(key, sizeof key, "%s.weight", names[k]);
        const struct tensor *t = checkpoint_get(c, layer->prefix, parent, key);
        if (!t || t->type == TENSOR_OTHER || size_of(t) != w->inputs[0])
            continue;
        w->norms++;
        wrong = numbers(&norm->weight, t, error);
        snprintf(key, sizeof key, "%s.bias", names[k]);
        t = checkpoint_get(c, layer->prefix, parent, key);
        if (!wrong && t && t->type != TENSOR_OTHER && size_of(t) == w->inputs[0])
            wrong = numbers(&norm->bias, t, error);
    }
    return wrong;
}

static const char *read_all(struct weights *w, const struct layer *layer, const struct checkpoint *c, char error[SENTENCE])
{
    static const char *const q_names[] = { "q_norm", "query_norm", "q_layernorm", "norm_q", "q_ln", NULL };
    static const char *const k_names[] = { "k_norm", "key_norm", "k_layernorm", "norm_k", "k_ln", NULL };
    const char *wrong = NULL;

    for (int s = 0; s < 3 && !wrong; s++)
        wrong = numbers(&w->part[s], layer->weight[s], error);
    if (!wrong)
        wrong = read_biases(w, layer, error);
    if (!wrong)
        wrong = numbers(&w->out, layer->out_weight, error);
    if (!wrong)
        wrong = numbers(&w->out_bias, layer->out_bias, error);
    if (!wrong)
        wrong = numbers(&w->bias_k, layer->bias_k, error);
    if (!wrong)
        wrong = numbers(&w->bias_v, layer->bias_v, error);
    if (!wrong)
        wrong = read_head_norm(&w->q_norm, &w->q_norm_bias, &w->q_norm_size, w->rows[0], layer, c, q_names, error);
    if (!wrong)
        wrong = read_head_norm(&w->k_norm, &w->k_norm_bias, &w->k_norm_size, w->rows[1], layer, c, k_names, error);
    return wrong ? wrong : read_norms(w, layer, c, error);
}

const char *weights_take(struct weights *w, const struct layer *layer, const struct checkpoint *c, char error[SENTENCE])
{
    *w = (struct weights){ .inputs = { layer->E, layer->Ek, layer->Ev }, .rows = { layer->rows[0], layer->rows[1], layer->rows[2] },
                           .O = layer->out_width, .separate = layer_separate(layer), .storing = layer->storing,
                           .out_square = layer->out_width == layer->rows[0], .out_transposed = layer->out_transposed };
    if (!layer->out_weight)
        return say(error, SENTENCE, "no %s beside its weights, without which no output can be reproduced",
                   layer->naming->out_weight ? layer->naming->out_weight : "output projection (--name out=...)");
    w->rows_possible = layer->storing == STORED_ROWS || (layer->E == layer->rows[0] && layer->Ek == layer->rows[1] && layer->Ev == layer->rows[2]);
    w->columns_possible = layer->storing == STORED_BLOCKS || (layer->E == layer->rows[0] && layer->Ek == layer->rows[1] && layer->Ev == layer->rows[2]);
    const char *wrong = read_all(w, layer, c, error);
    /* nn.MultiheadAttention has both biases or none; other programs may have one of them. */
    size_t all = w->rows[0] + w->rows[1] + w->rows[2];
    if (!wrong && !w->bias != !w->out_bias && !(*(w->bias ? &w->out_bias : &w->bias) = calloc(w->bias ? w->O : all, sizeof(double))))
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
    free(w->q_norm);
    free(w->k_norm);
    free(w->q_norm_bias);
    free(w->k_norm_bias);
    for (int k = 0; k < ORDER_NORMS; k++) {
        free(w->norm[k].weight);
        free(w->norm[k].bias);
    }
    *w = (struct weights){ 0 };
}

struct outputs weights_outputs(const struct weights *w, const struct reading *r)
{
    return (struct outputs){ w->inputs[0], { w->rows[0], w->rows[1], w->rows[2] }, r->G };
}

size_t weights_inputs(const struct weights *w, const struct reading *r, int which)
{
    return w->separate ? w->inputs[r->layout.slot[which]] : w->inputs[0];
}

double weights_get(const struct weights *w, const struct reading *r, int which, size_t e, size_t input)
{
    const struct outputs o = weights_outputs(w, r);
    int slot = r->layout.slot[which];

    if (!w->separate)
        return w->part[0][layout_index(r->layout.storing, &o, layout_output(&r->layout, &o, which, e), input)];
    return w->part[slot][r->layout.storing == STORED_BLOCKS ? input * w->rows[slot] + e : e * w->inputs[slot] + input];
}

double weights_bias(const struct weights *w, const struct reading *r, int which, size_t e)
{
    const struct outputs o = weights_outputs(w, r);
    int at = w->separate ? r->layout.slot[which] : which;

    if (!w->bias)
        return 0;
    if (w->separate || w->own_biases)
        return w->bias[(at > 0 ? w->rows[0] : 0) + (at > 1 ? w->rows[1] : 0) + e];
    return w->bias[layout_output(&r->layout, &o, which, e)];
}

int reading_fits(const struct weights *w, const struct reading *r, const size_t width[3])
{
    const struct outputs o = weights_outputs(w, r);
    int equal = w->rows[0] == w->rows[1];

    if (w->separate && (r->layout.portions != PORTIONS_WHOLE || !(r->layout.storing == STORED_ROWS ? w->rows_possible : r->layout.storing == STORED_BLOCKS && w->columns_possible)))
        return 0;
    if (!w->separate && ((!equal && (r->layout.storing > STORED_COLUMNS || r->layout.portions == PORTIONS_ELEMENT)) || !layout_portions(&r->layout, &o)))
        return 0;
    for (int which = 0; which < 3; which++)
        if (width[which] != weights_inputs(w, r, which) || (w->separate && w->rows[r->layout.slot[which]] != w->rows[which]))
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

    for (size_t e = 0; e < w->rows[which]; e++)
        for (size_t i = 0; i < X; i++)
            npz_set(a, (at + e) * X + i, weights_get(w, r, which, e, i));
}

static const char *put_weights(struct npz *z, const struct weights *w, const struct reading *r, const size_t width[3])
{
    static const char *const names[3] = { "q_proj_weight", "k_proj_weight", "v_proj_weight" };
    size_t E = w->rows[0];
    int packed = width[0] == E && width[1] == E && width[2] == E;
    struct npz_array *a = packed ? npz_add(z, "in_proj_weight", NPZ_F8, 2, (size_t[]){ 3 * E, E }) : NULL;

    for (int which = 0; which < 3; which++) {
        if (!packed)
            a = npz_add(z, names[which], NPZ_F8, 2, (size_t[]){ E, width[which] });
        if (!a)
            return z->error;
        fill(a, packed ? (size_t)which * E : 0, which, w, r);
    }
    if (w->bias && !(a = npz_add(z, "in_proj_bias", NPZ_F8, 1, (size_t[]){ 3 * E })))
        return z->error;
    if (w->bias)
        for (int which = 0; which < 3; which++)
            for (size_t e = 0; e < E; e++)
                npz_set(a, (size_t)which * E + e, weights_bias(w, r, which, e));
    if (!(a = npz_add(z, "out_proj.weight", NPZ_F8, 2, (size_t[]){ E, E })))
        return z->error;
    for (size_t e = 0; e < E; e++)
        for (size_t i = 0; i < E; i++)
            npz_set(a, e * E + i, w->out[r->out_transposed ? i * E + e : e * E + i]);
    return NULL;
}

static const char *put_all(struct npz *z, const struct weights *w, const struct npz *record, const struct reading *r, const size_t width[3])
{
    static const char *const arguments[] = { "query", "key", "value", "attn_mask", "key_padding_mask" };
    const struct npz_array *zero = npz_get(record, "add_zero_attn");
    const size_t sizes[] = { 1, w->rows[0], width[1], width[2], r->H, (size_t)r->batch_first, zero && zero->size && npz_value(zero, 0) != 0, 0 };
    static const char *const names[] = { "format", "embed_dim", "kdim", "vdim", "num_heads", "batch_first", "add_zero_attn", "is_causal" };
    const char *wrong = NULL;

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && !wrong; k++)
        wrong = put_whole(z, names[k], sizes[k]);
    if (!wrong && !npz_add(z, "dropout", NPZ_F8, 0, NULL))
        wrong = z->error;
    for (size_t k = 0; k < sizeof arguments / sizeof *arguments && !wrong; k++)
        wrong = put_argument(z, record, arguments[k]);
    if (!wrong && !(wrong = put_weights(z, w, r, width))
               && !(wrong = put_numbers(z, "out_proj.bias", w->out_bias, w->rows[0], 0))
               && !(wrong = put_numbers(z, "bias_k", w->bias_k, w->rows[0], 0)))
        wrong = put_numbers(z, "bias_v", w->bias_v, w->rows[0], 0);
    return wrong;
}

const char *reading_vector(struct vector *v, const struct weights *w, const struct npz *record, const struct reading *r, char error[600])
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
    if ((wrong = put_all(&z, w, record, r, width))) {
        say(error, 600, "%s", wrong);
        npz_free(&z);
        return error;
    }
    if ((wrong = vector_from(v, &z, "record")))
        return say(error, 600, "%s", v->error);
    return NULL;
}
