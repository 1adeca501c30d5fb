/* SPDX-License-Identifier: MIT */
/*
 * Names, shapes and memory of the stages that mha.c computes.
 *
 * Letters: k stage or dimension, m element of a whole array.
 */
#include "mha.h"

#include <stdint.h>
#include <stdlib.h>

static int named(struct array *a, const char *name, int ndim, size_t n0, size_t n1, size_t n2, size_t n3)
{
    size_t shape[4] = { n0, n1, n2, n3 }, size = 1;

    *a = (struct array){ .name = name, .ndim = ndim };
    FOR(k, 4) {
        if (shape[k] && size > (SIZE_MAX - CACHE_LINE) / sizeof(real) / shape[k])
            return 0;
        a->shape[k] = shape[k];
        size *= shape[k];
    }
    a->size = size;
    return 1;
}

static int room(struct array *a)
{
    a->v = aligned_alloc(CACHE_LINE, (a->size * sizeof(real) / CACHE_LINE + 1) * CACHE_LINE);    /* an empty stage exists too */
    if (!a->v)
        return 0;
    FOR(m, a->size) a->v[m] = 0;
    return 1;
}

const char *mha_shapes(struct array stage[STAGES], const struct mha_in *in)
{
    size_t N = in->N, L = in->L, S = in->S, E = in->E, Ek = in->Ek, Ev = in->Ev, H = in->H, D = E / H;
    size_t Sx = S + (in->bias_k != NULL) + (in->add_zero_attn != 0);

    FOR(k, STAGES) stage[k] = (struct array){ 0 };
    int ok = named(&stage[QUERY_ROWS], "query_rows", 3, N, L, E, 1)
          && named(&stage[KEY_ROWS], "key_rows", 3, N, S, Ek, 1)
          && named(&stage[VALUE_ROWS], "value_rows", 3, N, S, Ev, 1)
          && named(&stage[Q_WEIGHT], "q_weight", 2, E, E, 1, 1)
          && named(&stage[K_WEIGHT], "k_weight", 2, E, Ek, 1, 1)
          && named(&stage[V_WEIGHT], "v_weight", 2, E, Ev, 1, 1)
          && named(&stage[Q_BIAS], "q_bias", 1, E, 1, 1, 1)
          && named(&stage[K_BIAS], "k_bias", 1, E, 1, 1, 1)
          && named(&stage[V_BIAS], "v_bias", 1, E, 1, 1, 1)
          && named(&stage[Q_WEIGHT_T], "q_weight_t", 2, E, E, 1, 1)
          && named(&stage[K_WEIGHT_T], "k_weight_t", 2, Ek, E, 1, 1)
          && named(&stage[V_WEIGHT_T], "v_weight_t", 2, Ev, E, 1, 1)
          && named(&stage[Q_PROJ], "q_proj", 3, N, L, E, 1)
          && named(&stage[K_PROJ], "k_proj", 3, N, S, E, 1)
          && named(&stage[V_PROJ], "v_proj", 3, N, S, E, 1)
          && named(&stage[Q_HEADS], "q_heads", 4, N, H, L, D)
          && named(&stage[K_HEADS], "k_heads", 4, N, H, Sx, D)
          && named(&stage[V_HEADS], "v_heads", 4, N, H, Sx, D)
          && named(&stage[MASK], "mask", 4, N, H, L, Sx)
          && named(&stage[SCORES], "scores", 4, N, H, L, Sx)
          && named(&stage[MASKED_SCORES], "masked_scores", 4, N, H, L, Sx)
          && named(&stage[ATTN_WEIGHTS], "attn_weights", 4, N, H, L, Sx)
          && named(&stage[HEAD_OUTPUTS], "head_outputs", 4, N, H, L, D)
          && named(&stage[MERGED], "merged", 3, N, L, E, 1)
          && named(&stage[OUT_WEIGHT_T], "out_weight_t", 2, E, E, 1, 1)
          && named(&stage[OUTPUT], "output", 3, N, L, E, 1)
          && named(&stage[ATTN_WEIGHTS_MEAN], "attn_weights_mean", 3, N, L, Sx, 1);

    return ok ? NULL : "not enough memory for the stages";
}

const char *mha_alloc(struct array stage[STAGES], const struct mha_in *in)
{
    const char *wrong = mha_shapes(stage, in);

    FOR(k, STAGES) {
        int absent = k >= Q_BIAS && k <= V_BIAS && !in->in_proj_bias;
        if (!wrong && !absent && !room(&stage[k]))
            wrong = "not enough memory for the stages";
    }
    if (wrong)
        mha_free(stage);
    return wrong;
}

void mha_free(struct array stage[STAGES])
{
    FOR(k, STAGES) {
        free(stage[k].v);
        stage[k].v = NULL;
    }
}
