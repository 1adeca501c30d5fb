/* SPDX-License-Identifier: MIT */
/*
 * From the double recipe to the float one, and back.
 *
 * Both come from the same text under another REAL, so struct array and struct
 * mha_in are two types of one name each. What crosses over has neither in it.
 */
#ifndef QKVEC_NARROW_H
#define QKVEC_NARROW_H

#include "../recipe/mha.h"

/* Every array of numbers in struct mha_in, as in->FIELD, and how many. */
#define NARROW_ARRAYS(X) \
    X(query, in->N * in->L * in->E) \
    X(key, in->N * in->S * in->Ek) \
    X(value, in->N * in->S * in->Ev) \
    X(in_proj_weight, 3 * in->E * in->E) \
    X(q_proj_weight, in->E * in->E) \
    X(k_proj_weight, in->E * in->Ek) \
    X(v_proj_weight, in->E * in->Ev) \
    X(in_proj_bias, 3 * in->E) \
    X(out_proj_weight, in->E * in->E) \
    X(out_proj_bias, in->E) \
    X(bias_k, in->E) \
    X(bias_v, in->E) \
    X(attn_mask.added, (in->attn_mask.ndim == 3 ? in->N * in->H : 1) * in->L * in->S) \
    X(key_padding_mask.added, in->N * in->S)
enum { NARROW_ARRAYS_COUNT = 14 };

struct narrow {
    size_t N, L, S, E, Ek, Ev, H;
    int batched, batch_first, add_zero_attn, attn_mask_ndim, key_padding_mask_ndim;
    const unsigned char *attn_masked, *key_padding_masked;
    const double *numbers[NARROW_ARRAYS_COUNT];    /* in the order above; NULL for what is not there */
    double *stage[STAGES];                         /* of the double copy; changed as below */
};

/* Run a float copy. Where any of its numbers is not finite and that of n->stage
 * is, n->stage becomes its stages. NULL, or a sentence. */
const char *narrow_forward(struct narrow *n, void (*forward)(void *t, const void *in));

/* The recipe itself in float. */
void narrow_recipe(void *t, const void *in);

#endif
