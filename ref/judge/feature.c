/* SPDX-License-Identifier: MIT */
#include "feature.h"

#include <math.h>

const char *const feature_names[FEATURES] = {
    "attn_mask_bool_2d", "attn_mask_float_2d", "attn_mask_bool_3d", "attn_mask_float_3d",
    "key_padding_mask_bool", "key_padding_mask_float", "is_causal", "bias_kv", "zero_attn", "kdim_vdim",
    "no_bias", "empty_sizes", "fully_masked_rows",
};
const char *const feature_phrases[FEATURES] = {
    "bool attn_mask (L,S)", "float attn_mask (L,S)", "bool attn_mask (N*H,L,S)", "float attn_mask (N*H,L,S)",
    "bool key_padding_mask", "float key_padding_mask", "is_causal", "bias_k, bias_v", "add_zero_attn", "kdim, vdim",
    "no bias", "empty sizes", "fully masked rows",
};

/* What hides a key: true or -inf. */
static int hides(const struct mask *mask, size_t m)
{
    return mask->masked ? mask->masked[m] : mask->added[m] == -(real)INFINITY;
}

/* Some query may attend to nothing. */
static int fully_masked(const struct mha_in *in)
{
    size_t L = in->L, S = in->S, per_head = in->attn_mask.ndim == 3;

    if (in->bias_k || in->add_zero_attn || !(in->attn_mask.ndim || in->key_padding_mask.ndim) || !S)
        return 0;
    for (size_t n = 0; n < in->N; n++)
        for (size_t h = 0; h < in->H; h++)
            for (size_t i = 0; i < L; i++) {
                size_t j = 0, row = ((per_head ? n * in->H + h : 0) * L + i) * S;
                while (j < S && ((in->attn_mask.ndim && hides(&in->attn_mask, row + j))
                                 || (in->key_padding_mask.ndim && hides(&in->key_padding_mask, n * S + j))))
                    j++;
                if (j == S)
                    return 1;
            }
    return 0;
}

uint32_t features_of(const struct vector *v)
{
    const struct mha_in *in = &v->in;
    const struct mask *attn = &in->attn_mask, *padding = &in->key_padding_mask;
    const int has[FEATURES] = {
        [FEATURE_BOOL_2D] = attn->ndim == 2 && attn->masked,
        [FEATURE_FLOAT_2D] = attn->ndim == 2 && !attn->masked,
        [FEATURE_BOOL_3D] = attn->ndim == 3 && attn->masked,
        [FEATURE_FLOAT_3D] = attn->ndim == 3 && !attn->masked,
        [FEATURE_BOOL_PADDING] = padding->ndim && padding->masked,
        [FEATURE_FLOAT_PADDING] = padding->ndim && !padding->masked,
        [FEATURE_CAUSAL] = v->is_causal,
        [FEATURE_BIAS_KV] = in->bias_k != NULL,
        [FEATURE_ZERO_ATTN] = in->add_zero_attn,
        [FEATURE_KDIM_VDIM] = in->Ek != in->E || in->Ev != in->E,
        [FEATURE_NO_BIAS] = !in->in_proj_bias,
        [FEATURE_EMPTY] = !in->N || !in->L || !in->S,
        [FEATURE_FULLY_MASKED] = fully_masked(in),
    };
    uint32_t bits = 0;

    for (int k = 0; k < FEATURES; k++)
        bits |= has[k] ? (uint32_t)1 << k : 0;
    return bits;
}
