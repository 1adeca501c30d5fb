/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "layer.h"

static const char *const stages[3] = { "q", "k", "v" };
static const char *const weights[3] = { "w0", "w1", "w2" }, *const biases[3] = { "b0", "b1", "b2" };    /* as taken */

static struct npz_array *add(struct npz *z, int which, const char *what, enum npz_type type, int ndim, size_t rows, size_t columns)
{
    char name[16];

    snprintf(name, sizeof name, "%s_%s", stages[which], what);
    return npz_add(z, name, type, ndim, (size_t[]){ rows, columns });
}

static void copy(struct npz_array *to, size_t i, const struct npz_array *from, size_t j)
{
    size_t item = npz_type_size(to->type);

    memcpy((char *)to->data + i * item, (const char *)from->data + j * item, item);
}

/* The weight of one of the three, out of the packed one or out of its own. */
static const char *weight(struct npz *z, const struct layer *l, int which, const struct npz *parts, const struct layout *layout, size_t H)
{
    const struct npz_array *from = &parts->arrays[layer_separate(l) ? layout->slot[which] : 0];
    size_t E = l->E, X = !layer_separate(l) || from->size == E * E ? E : from->size / E;
    struct npz_array *y = add(z, which, "weight", from->type, 2, E, X);

    if (!y)
        return z->error;
    for (size_t e = 0; e < E; e++)
        for (size_t i = 0; i < X; i++)
            copy(y, e * X + i, from, !layer_separate(l) ? layout_index(layout->storing, layout_output(layout, which, e, E, H), i, E)
                                     : layout->storing == STORED_BLOCKS ? i * E + e : e * X + i);
    return NULL;
}

static const char *bias(struct npz *z, const struct layer *l, int which, const struct npz_array *from, const struct layout *layout, size_t H)
{
    struct npz_array *y = add(z, which, "bias", from->type, 1, l->E, 1);

    if (!y)
        return z->error;
    for (size_t e = 0; e < l->E; e++)
        copy(y, e, from, from->size == l->E ? e : layout_output(layout, which, e, l->E, H));
    return NULL;
}

static const char *transpose(struct npz *z, int which)
{
    char name[16];
    const struct npz_array *x;
    struct npz_array *y;

    snprintf(name, sizeof name, "%s_weight", stages[which]);
    x = npz_get(z, name);
    size_t rows = x->shape[0], columns = x->shape[1];
    enum npz_type type = x->type;
    if (!(y = add(z, which, "weight_t", type, 2, columns, rows)))
        return z->error;
    x = npz_get(z, name);    /* npz_add may have moved it */
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            copy(y, c * rows + r, x, r * columns + c);
    return NULL;
}

static const char *take(struct npz *parts, const struct layer *l, char error[SENTENCE])
{
    const char *wrong = NULL;

    for (int s = 0; s < 3 && !wrong; s++)
        if (l->weight[s])
            wrong = checkpoint_take(parts, weights[s], l->weight[s], error);
    for (int s = 0; s < 3 && !wrong; s++)
        if (l->bias[s])
            wrong = checkpoint_take(parts, biases[s], l->bias[s], error);
    return wrong;
}

const char *layer_split(struct npz *z, const struct layer *l, const struct layout *layout, size_t H, char error[SENTENCE])
{
    struct npz parts = { 0 };
    const char *wrong = take(&parts, l, error), *failed = NULL;
    
    for (int which = 0; which < 3 && !wrong && !failed; which++)
        failed = weight(z, l, which, &parts, layout, H);
    for (int which = 0; which < 3 && !wrong && !failed; which++) {
        const struct npz_array *from = npz_get(&parts, biases[l->naming->bias[1] ? layout->slot[which] : 0]);
        if (from)
            failed = bias(z, l, which, from, layout, H);
    }
    for (int which = 0; which < 3 && !wrong && !failed; which++)
        failed = transpose(z, which);
    if (!wrong && !failed && l->bias_k)
        wrong = checkpoint_take(z, "bias_k", l->bias_k, error);
    if (!wrong && !failed && l->bias_v)
        wrong = checkpoint_take(z, "bias_v", l->bias_v, error);
    npz_free(&parts);
    return failed ? say(error, SENTENCE, "%s", failed) : wrong;
}
