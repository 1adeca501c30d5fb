/* SPDX-License-Identifier: MIT */
/*
 * A case of one query made narrow: one channel in each head, and the same
 * scores. Cutting channels changes the scores, so that a fault which only some
 * numbers show would be lost on the way.
 *
 * Letters: h head, j key, e channel.
 */
#include <stdlib.h>

#include "../corpus/vector.h"
#include "case.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* With a query of ones and projections that change nothing a score is the key
 * itself. x holds query, key, value, bias_k, bias_v and the weight of 4H rows. */
static void make(struct mha_in *narrow, double *x, const struct mha_in *in, const struct array t[STAGES])
{
    size_t H = in->H, S = in->S, E = in->E, D = E / H, Sx = t[SCORES].shape[3];
    double *query = x, *key = query + H, *value = key + S * H, *bias_k = value + S * H, *bias_v = bias_k + H, *weight = bias_v + H;

    FOR(h, H) {
        query[h] = 1;
        FOR(j, S) {
            key[j * H + h] = (double)t[SCORES].v[h * Sx + j];
            value[j * H + h] = (double)t[V_PROJ].v[j * E + h * D];
        }
        if (in->bias_k) {
            bias_k[h] = (double)t[SCORES].v[h * Sx + S];
            bias_v[h] = (double)in->bias_v[h * D];
        }
        FOR(block, 4) FOR(e, H) weight[(block * H + h) * H + e] = h == e;
    }
    *narrow = *in;
    narrow->E = narrow->Ek = narrow->Ev = H;
    narrow->query = query, narrow->key = key, narrow->value = value;
    narrow->in_proj_weight = weight;
    narrow->out_proj_weight = weight + 3 * H * H;
    narrow->q_proj_weight = narrow->k_proj_weight = narrow->v_proj_weight = NULL;
    narrow->in_proj_bias = narrow->out_proj_bias = NULL;
    narrow->bias_k = in->bias_k ? bias_k : NULL;
    narrow->bias_v = in->bias_v ? bias_v : NULL;
}

const char *fuzz_narrow(struct npz *out, const struct npz *z)
{
    struct vector v;
    struct mha_in narrow;
    struct array t[STAGES];
    struct npz copy;
    const char *error = npz_copy(&copy, z, NULL);
    double *x = NULL;

    *out = (struct npz){ 0 };
    if (error || vector_from(&v, &copy, "fuzz"))
        return "no case";
    if (v.in.N != 1 || v.in.L != 1) {
        error = "more than one query";
    } else if (!(error = mha_alloc(t, &v.in))) {
        mha_forward(t, &v.in);
        if ((x = calloc(v.in.H * (3 + 2 * v.in.S + 4 * v.in.H), sizeof *x))) {
            make(&narrow, x, &v.in, t);
            error = vector_pack(out, &narrow, v.is_causal, v.dropout, NPZ_F4);
        } else {
            error = "not enough memory";
        }
        mha_free(t);
    }
    free(x);
    vector_free(&v);
    if (error)
        npz_free(out);
    return error;
}
