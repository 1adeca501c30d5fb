/* SPDX-License-Identifier: MIT */
/*
 * The attention layers of a checkpoint, by the names of their tensors: those
 * of nn.MultiheadAttention, and those of some other programs.
 */
#ifndef QKVEC_LAYER_H
#define QKVEC_LAYER_H

#include "checkpoint.h"
#include "layout.h"

/* The names of one program, each below the layer's prefix; NULL: has none. */
struct naming {
    const char *weight[3];       /* q, k, v; or packed, NULL, NULL */
    const char *bias[3];
    const char *out_weight, *out_bias;
    const char *origin;          /* "" for nn.MultiheadAttention */
    const char *layout;          /* as a rule */
};

struct layer {
    const char *prefix;          /* "transformer_encoder.layers.0.self_attn", of length bytes; "" for a module alone */
    size_t length;
    const struct naming *naming;
    const struct tensor *weight[3], *bias[3], *bias_k, *bias_v, *out_weight, *out_bias;    /* NULL: has none */
    size_t E, Ek, Ev, numbers;   /* parameters in all */
    char problem[240];           /* why it cannot be taken apart; "" for a good one */
};

struct layers {
    struct layer *layer;
    size_t count;
};

/* May a tensor of this name belong to an attention layer? */
int layer_part(const char *name);

/* In the order of the file. NULL, or a sentence when memory is out. The
 * checkpoint must stay. */
const char *layers_find(struct layers *all, const struct checkpoint *c);
void layers_free(struct layers *all);

/* The layer of that name: its prefix, "." for an empty one, the end of a prefix
 * where that is unique, or the name of its weight. NULL, or what is wrong. */
const char *layers_named(const struct layer **found, const struct layers *all, const char *name, char error[SENTENCE]);

static inline int layer_separate(const struct layer *layer)
{
    return layer->weight[1] != NULL;
}

/* Add q_weight, k_weight, v_weight (out,in), their biases, bias_k and bias_v,
 * and the transposes q_weight_t, k_weight_t, v_weight_t to z. H matters to
 * layouts that go head by head alone. NULL, or what is wrong. */
const char *layer_split(struct npz *z, const struct layer *layer, const struct layout *layout, size_t H, char error[SENTENCE]);

#endif
