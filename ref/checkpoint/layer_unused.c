/* SPDX-License-Identifier: MIT */
/* The tensors below a layer's prefix that split does not give: position
 * tables, norms of q and k, biases under other names, masks. */
#include <stdlib.h>
#include <string.h>

#include "layer.h"

/* Parts of names that are no part of attention: the norm and the dropout behind its output. */
static const char *const harmless[] = { "LayerNorm", "layer_norm", "layernorm", "dropout", "num_batches_tracked" };

/* Parts of names that mean attention. Below an empty prefix, where the whole model lies, only these count. */
static const char *const attention[] = {
    "q_bias", "k_bias", "v_bias", "bias_mask", "relative", "rel_pos", "q_norm", "k_norm", "query_norm", "key_norm", "norm_q", "norm_k",
    "q_ln", "k_ln", "q_layernorm", "k_layernorm", "rotary", "rope", "inv_freq", "alibi", "slopes", "logit_scale", "sinks", "pos_proj", "pos_q_proj",
    "linear_pos", "pos_bias", "r_w_bias", "r_r_bias", "r_s_bias", "seg_embed", "add_q_proj", "add_k_proj", "add_v_proj", "to_add_out",
    "distance_embedding", "masked_bias", "temperature", "in_proj_bias", "lora_", "qkv.bias", "qkv_bias",
};

static int contains_any(const char *name, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strstr(name, words[k]))
            return 1;
    return 0;
}

static int is_used(const struct layer *l, const struct tensor *t)
{
    const struct tensor *parts[] = { l->weight[0], l->weight[1], l->weight[2], l->bias[0], l->bias[1], l->bias[2],
                                     l->bias_k, l->bias_v, l->out_weight, l->out_bias };

    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k] == t)
            return 1;
    return 0;
}

/* The first tensor, in the order of names, from a prefix on. */
static size_t first_from(const struct checkpoint *c, const char *prefix, size_t length)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strncmp(c->sorted[middle]->name, prefix, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void layer_find_unused(struct layer *l, const struct checkpoint *c)
{
    size_t length = l->length ? l->length + 1 : 0;    /* with the separator */

    for (size_t k = first_from(c, l->prefix, length); k < c->count; k++) {
        const struct tensor *t = c->sorted[k];
        const char *rest = t->name + length;
        if (strncmp(t->name, l->prefix, length))
            break;
        int means_attention = contains_any(rest, attention, sizeof attention / sizeof *attention);
        if (is_used(l, t) || (!means_attention && (!length || contains_any(rest, harmless, sizeof harmless / sizeof *harmless))))
            continue;
        if (l->unused_count < LAYER_UNUSED)
            l->unused[l->unused_count] = t;
        l->unused_count++;
    }
}
