/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "layer.h"

static const char *const stages[3] = { "q", "k", "v" };
static const char *const weights[3] = { "w0", "w1", "w2" }, *const biases[3] = { "b0", "b1", "b2" };    /* as they are stored */

struct outputs layer_outputs(const struct layer *l, size_t heads)
{
    return (struct outputs){ .inputs = l->E, .rows = { l->rows[0], l->rows[1], l->rows[2] }, .heads = heads };
}

/* Key heads if there are H query heads, or those that are known; 0: unknown. */
static size_t key_heads(const struct layer *l, size_t H)
{
    return !H ? l->G : l->rows[0] % H || l->rows[1] % (l->rows[0] / H) ? 0 : l->rows[1] / (l->rows[0] / H);
}

const char *layer_layout(struct layout *layout, const struct layer *l, const char *given, size_t H, char error[SENTENCE])
{
    struct outputs o = layer_outputs(l, key_heads(l, H));
    const char *wrong;

    if (!given && l->doubt[0])
        return say(error, SENTENCE, "%s", l->doubt);
    if (layer_separate(l) && !given) {
        *layout = layout_pytorch;
        layout->storing = l->storing;
        return NULL;
    }
    if ((wrong = layout_parse(layout, given ? given : l->layout)))
        return say(error, SENTENCE, "%.60s: %s", given ? given : l->layout, wrong);
    if (layer_separate(l) && (layout->portions != PORTIONS_WHOLE || (layout->storing != STORED_ROWS && layout->storing != STORED_BLOCKS)))
        return say(error, SENTENCE, "%.60s: a layout of packed weights, found separate ones: wanted an order, and ,blocks if each is (in,out)", given);
    if (layer_separate(l))
        return NULL;
    if (layout->portions == PORTIONS_HEAD && !o.heads)
        return say(error, SENTENCE, "by the names of %.60s q, k and v lie head by head: give --heads H, or --layout, or put config.json beside the file",
                   l->naming->origin[0] ? l->naming->origin : "this layout");
    if (!layout_portions(layout, &o))
        return say(error, SENTENCE, "%.60s: %zu outputs of q and %zu of k cannot be cut into %zu portions", given ? given : l->layout, l->rows[0], l->rows[1],
                   layout->portions == PORTIONS_SHARDS ? layout->shards : o.heads ? o.heads : l->rows[0]);
    if (layer_grouped(l) && (layout->storing > STORED_COLUMNS || layout->portions == PORTIONS_ELEMENT))
        return say(error, SENTENCE, "%.60s: a layout of equal q, k and v, found %zu outputs of q and %zu of k", given ? given : l->layout, l->rows[0], l->rows[1]);
    return NULL;
}

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

/* Add the weight of q, k or v: from the packed one, or from its own. */
static const char *add_weight(struct npz *z, const struct layer *l, int which, const struct npz *parts, const struct layout *layout, const struct outputs *o)
{
    int packed = !layer_separate(l), slot = layout->slot[which];
    const size_t inputs[3] = { l->E, l->Ek, l->Ev };
    const struct npz_array *from = npz_get(parts, weights[packed ? 0 : slot]);
    size_t X = inputs[packed ? 0 : slot], rows = packed ? l->rows[which] : l->rows[slot];
    struct npz_array *y = add(z, which, "weight", from->type, 2, rows, X);

    if (!y)
        return z->error;
    for (size_t e = 0; e < rows; e++) {
        size_t output = packed ? layout_output(layout, o, which, e) : e;
        for (size_t i = 0; i < X; i++)
            copy(y, e * X + i, from, packed ? layout_index(layout->storing, o, output, i) : layout->storing == STORED_BLOCKS ? i * rows + e : e * X + i);
    }
    return NULL;
}

/* Add the bias of q, k or v: its own, or its part of a packed one. */
static const char *add_bias(struct npz *z, const struct layer *l, int which, const struct npz *parts, const struct layout *layout, const struct outputs *o)
{
    int own = l->naming->bias[1] != NULL, slot = layout->slot[which];
    const struct npz_array *from = npz_get(parts, biases[own ? slot : 0]);
    struct npz_array *y = from ? add(z, which, "bias", from->type, 1, l->rows[layer_separate(l) ? slot : which], 1) : NULL;

    if (!y)
        return from ? z->error : NULL;
    for (size_t e = 0; e < y->size; e++)
        copy(y, e, from, own ? e : layer_separate(l) ? (size_t)slot * l->rows[0] + e : layout_output(layout, o, which, e));
    return NULL;
}

static const char *add_transpose(struct npz *z, int which)
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

static const char *take_parts(struct npz *parts, const struct layer *l, char error[SENTENCE])
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
    struct outputs o = layer_outputs(l, key_heads(l, H));
    struct npz parts = { 0 };
    const char *wrong = take_parts(&parts, l, error), *failed = NULL;

    if (!wrong && !layer_separate(l) && !layout_portions(layout, &o))
        wrong = say(error, SENTENCE, "its outputs cannot be cut by this layout");
    if (!wrong && layer_separate(l) && layout->storing != l->storing && (l->E != l->rows[0] || l->Ek != l->rows[1] || l->Ev != l->rows[2]))
        wrong = say(error, SENTENCE, "by their shapes the weights are stored %s", l->storing == STORED_ROWS ? "(out,in)" : "(in,out)");
    for (int which = 0; which < 3 && !wrong && !failed; which++)
        failed = add_weight(z, l, which, &parts, layout, &o);
    for (int which = 0; which < 3 && !wrong && !failed; which++)
        failed = add_bias(z, l, which, &parts, layout, &o);
    for (int which = 0; which < 3 && !wrong && !failed; which++)
        failed = add_transpose(z, which);
    if (!wrong && !failed && l->bias_k)
        wrong = checkpoint_take(z, "bias_k", l->bias_k, error);
    if (!wrong && !failed && l->bias_v)
        wrong = checkpoint_take(z, "bias_v", l->bias_v, error);
    npz_free(&parts);
    return failed ? say(error, SENTENCE, "%s", failed) : wrong;
}
