/* SPDX-License-Identifier: MIT */
/*
 * The attention layers of a checkpoint, found by the names of their tensors
 * (naming.c) and read by their shapes.
 *
 * Letters: E inputs of q, Ek and Ev inputs of k and v; H query heads, G key
 * heads, D channels of a head; A = H*D outputs of q, K = G*D of k and v.
 */
#ifndef QKVEC_LAYER_H
#define QKVEC_LAYER_H

#include "checkpoint.h"
#include "config.h"
#include "layout.h"
#include "naming.h"

#define LAYER_UNUSED 8     /* tensors that a layer names as not used */

struct layer {
    const char *prefix;          /* "transformer_encoder.layers.0.self_attn", of length bytes; "" for a module alone */
    size_t length;
    char separator;              /* '.' or '/' */
    int in_out;                  /* spelled "kernel": weights are (in,out) by convention */
    const struct naming *naming;
    const struct tensor *weight[3], *bias[3], *bias_k, *bias_v, *out_weight, *out_bias;    /* NULL: has none */
    size_t E, Ek, Ev;            /* inputs */
    size_t rows[3];              /* outputs of q, k and v: A, K, K */
    size_t H, G, D;              /* 0: unknown */
    size_t out_width;            /* outputs of the output projection */
    enum storing storing;        /* separate: ROWS or BLOCKS; packed: ROWS or COLUMNS */
    int out_transposed;          /* out_weight is (in,out) by its names or its shape */
    char layout[LAYOUT_TEXT];    /* of a packed weight, by its names; "" if two fit (see doubt) */
    size_t numbers;              /* parameters in all */
    const struct tensor *unused[LAYER_UNUSED];    /* below its prefix, and not part of what split gives */
    size_t unused_count;         /* all of them, also beyond LAYER_UNUSED */
    char problem[SENTENCE];      /* why it cannot be read; "" for a good one */
    char doubt[SENTENCE];        /* the two readings that it fits, and what decides; "" if it fits one */
};

struct layers {
    struct layer *layer;
    size_t count;
};

/* What is known beside the tensors. All zero: nothing. */
struct clues {
    const struct config *config;      /* or NULL */
    const struct naming *naming;      /* names given by the user, or NULL */
    size_t H, G;                      /* heads given by the user; 0: not given */
    const struct layout *layout;      /* layout given by the user, or NULL */
};

/* Return whether a tensor of this name may belong to an attention layer. */
int layer_part(const char *name);

/* Find the layers, in the order of the file. Returns NULL, or an error message
 * if memory is out. The checkpoint and the names in clues must stay. */
const char *layers_find(struct layers *all, const struct checkpoint *c, const struct clues *clues);
void layers_free(struct layers *all);

/* Find the layer of that name: its prefix, "." for an empty one, the end of a
 * prefix if that is unique, or the key of its weight. Returns NULL or an error message. */
const char *layers_named(const struct layer **found, const struct layers *all, const char *name, char error[SENTENCE]);

static inline int layer_separate(const struct layer *layer)
{
    return layer->weight[1] != NULL;
}

/* Return whether the layer has fewer heads of k and v than of q. */
static inline int layer_grouped(const struct layer *layer)
{
    return layer->rows[1] < layer->rows[0];
}

/* Return whether it is a layer that nn.MultiheadAttention can hold: as many
 * key heads as query heads, H*D = E. */
static inline int layer_plain(const struct layer *layer)
{
    return !layer_grouped(layer) && layer->rows[0] == layer->E && layer->out_width == layer->E;
}

/* Return the sizes of its packed weight, with heads for PORTIONS_HEAD (G, or 0 if unknown). */
struct outputs layer_outputs(const struct layer *layer, size_t heads);

/* Choose its layout: the given one, or else that of its names. H is needed by
 * layouts that go head by head; 0: not given. Returns NULL or an error message. */
const char *layer_layout(struct layout *layout, const struct layer *layer, const char *given, size_t H, char error[SENTENCE]);

/* Add q_weight (A,E), k_weight (K,Ek), v_weight (K,Ev), their biases, bias_k and
 * bias_v, and the transposes q_weight_t, k_weight_t, v_weight_t to z. H: as
 * above. Returns NULL or an error message. */
const char *layer_split(struct npz *z, const struct layer *layer, const struct layout *layout, size_t H, char error[SENTENCE]);

/* ---- of layer*.c ---- */

/* Read the shapes of a layer whose tensors are filled in: everything from E
 * to out_transposed, layout, problem and doubt. */
void layer_shape(struct layer *layer, const struct clues *clues);

/* Fill in unused. */
void layer_find_unused(struct layer *layer, const struct checkpoint *c);

#endif
