/* SPDX-License-Identifier: MIT */
/*
 * What goes into multi-head attention, and every number on the way out.
 *
 * Letters: N batch, L target length, S source length, E embed_dim, Ek kdim,
 * Ev vdim, H heads, D = E / H, Sx = S + 1 for bias_k/bias_v + 1 for add_zero_attn.
 */
#ifndef QKVEC_MHA_H
#define QKVEC_MHA_H

#include "array.h"

/* A mask as PyTorch takes it: bool (true means "may not be attended") or a
 * float that is added to the scores. At most one of the two is set. */
struct mask {
    int ndim;                       /* attn_mask: 2 is (L,S), 3 is (N*H,L,S) */
    const unsigned char *masked;    /* bool mask, or NULL */
    const real *added;              /* float mask, or NULL */
};

/* The arguments of forward() and the parameters of the module, under
 * PyTorch's names. What a module does not have is NULL. */
struct mha_in {
    size_t N, L, S, E, Ek, Ev, H;
    int batched;                    /* 0: query is (L,E), key (S,Ek), value (S,Ev), and N is 1 */
    int batch_first;                /* 1: query is (N,L,E); 0: query is (L,N,E), key and value alike */
    int add_zero_attn;
    const real *query, *key, *value;
    const real *in_proj_weight;     /* (3E,E): rows of q, of k, of v; or NULL and these three: */
    const real *q_proj_weight, *k_proj_weight, *v_proj_weight;    /* (E,E) (E,Ek) (E,Ev) */
    const real *in_proj_bias;       /* (3E) or NULL */
    const real *out_proj_weight;    /* (E,E) */
    const real *out_proj_bias;      /* (E) or NULL */
    const real *bias_k, *bias_v;    /* (E), both or none: add_bias_kv */
    struct mask attn_mask;          /* (L,S) or (N*H,L,S), of item n and head h at n*H+h */
    struct mask key_padding_mask;   /* (N,S) */
};

/* The stages in the order in which they are computed. Those marked * are kept
 * for the next step but are no part of a vector file. */
enum mha_stage {
    QUERY_ROWS, KEY_ROWS, VALUE_ROWS,            /* (N,L,E) (N,S,Ek) (N,S,Ev) *  */
    Q_WEIGHT, K_WEIGHT, V_WEIGHT,                /* (E,E) (E,Ek) (E,Ev)          */
    Q_BIAS, K_BIAS, V_BIAS,                      /* (E), or none                 */
    Q_WEIGHT_T, K_WEIGHT_T, V_WEIGHT_T,          /* (E,E) (Ek,E) (Ev,E)          */
    Q_PROJ, K_PROJ, V_PROJ,                      /* (N,L,E) (N,S,E) (N,S,E)      */
    Q_HEADS, K_HEADS, V_HEADS,                   /* (N,H,L,D) (N,H,Sx,D) twice   */
    MASK, SCORES, MASKED_SCORES, ATTN_WEIGHTS,   /* (N,H,L,Sx)                   */
    HEAD_OUTPUTS,                                /* (N,H,L,D)                    */
    MERGED,                                      /* (N,L,E)                      */
    OUT_WEIGHT_T,                                /* (E,E) *                      */
    OUTPUT,                                      /* (N,L,E)                      */
    ATTN_WEIGHTS_MEAN,                           /* (N,L,Sx)                     */
    STAGES
};

/* Name and shape every stage, without numbers. NULL, or what is wrong. */
const char *mha_shapes(struct array stage[STAGES], const struct mha_in *in);

/* Room for the numbers too, zeros; none for the biases of a layer without. NULL,
 * or what went wrong (then nothing is left to free). */
const char *mha_alloc(struct array stage[STAGES], const struct mha_in *in);
void mha_free(struct array stage[STAGES]);

/* The recipe. Each part needs the stages of the part before. */
void mha_projections(struct array stage[STAGES], const struct mha_in *in);   /* arguments -> q_heads, k_heads, v_heads */
void mha_core(struct array stage[STAGES], const struct mha_in *in);          /* heads and masks -> attn_weights, head_outputs */
void mha_output(struct array stage[STAGES], const struct mha_in *in);        /* -> merged, output, attn_weights_mean */
void mha_forward(struct array stage[STAGES], const struct mha_in *in);       /* all three */

#endif
