/* SPDX-License-Identifier: MIT */
/* The recipe behind the interface of a kernel. Letters: m element. */
#include <stdio.h>
#include <stdlib.h>

#include "../host/call.h"
#include "library.h"

enum { BLOCKS = 16 };

/* The inputs as double: blocks to free. */
struct inputs {
    real *block[BLOCKS];
    size_t count;
    int failed;
};

static const real *widened(struct inputs *x, const void *from, uint32_t dtype, size_t size)
{
    real *to = from ? malloc((size ? size : 1) * sizeof *to) : NULL;

    if (!from)
        return NULL;
    if (!to) {
        x->failed = 1;
        return NULL;
    }
    call_get(to, from, dtype, size);
    x->block[x->count++] = to;
    return to;
}

static struct mask mask(struct inputs *x, const void *from, int ndim, uint32_t dtype, size_t size)
{
    struct mask mask = { .ndim = from ? ndim : 0 };

    if (from && dtype == QKVEC_BOOL)
        mask.masked = from;
    else if (from)
        mask.added = widened(x, from, dtype, size);
    return mask;
}

static struct mha_in sizes(const struct qkvec_call *c)
{
    return (struct mha_in){
        .N = (size_t)c->N, .L = (size_t)c->L, .S = (size_t)c->S, .E = (size_t)c->E, .Ek = (size_t)c->Ek, .Ev = (size_t)c->Ev,
        .H = (size_t)c->H, .batched = 1, .batch_first = 1, .add_zero_attn = (c->flags & QKVEC_ZERO_ATTN) != 0,
    };
}

static void layer(struct mha_in *in, struct inputs *x, const struct qkvec_call *c)
{
    size_t N = in->N, L = in->L, S = in->S, E = in->E;
    uint32_t t = c->dtype;

    in->query = widened(x, c->query, t, N * L * E);
    in->key = widened(x, c->key, t, N * S * in->Ek);
    in->value = widened(x, c->value, t, N * S * in->Ev);
    in->q_proj_weight = widened(x, c->q_weight, t, E * E);
    in->k_proj_weight = widened(x, c->k_weight, t, E * in->Ek);
    in->v_proj_weight = widened(x, c->v_weight, t, E * in->Ev);
    in->in_proj_bias = widened(x, c->in_proj_bias, t, 3 * E);
    in->out_proj_weight = widened(x, c->out_weight, t, E * E);
    in->out_proj_bias = widened(x, c->out_bias, t, E);
    in->bias_k = widened(x, c->bias_k, t, E);
    in->bias_v = widened(x, c->bias_v, t, E);
}

static void masks(struct mha_in *in, struct inputs *x, const struct qkvec_call *c)
{
    size_t heads = c->attn_mask_ndim == 3 ? in->N * in->H : 1;

    in->attn_mask = mask(x, c->attn_mask, (int)c->attn_mask_ndim, c->attn_mask_dtype, heads * in->L * in->S);
    in->key_padding_mask = mask(x, c->key_padding_mask, 2, c->padding_dtype, in->N * in->S);
}

static void give(void *to, const struct array *stage, const struct qkvec_call *c, uint32_t bit)
{
    if (!to)
        return;
    call_put(to, c->dtype, 0, stage->v, stage->size);
    *c->written |= bit;
}

static void heads(struct array t[STAGES], const struct qkvec_call *c)
{
    const void *from[] = { c->q_heads, c->k_heads, c->v_heads };

    for (int k = 0; k < 3; k++)
        call_get(t[Q_HEADS + k].v, from[k], c->dtype, t[Q_HEADS + k].size);
}

/* To a core the appended keys are keys like the others, and all masks are one: c->mask (N,H,L,Sx), to add. */
static void core(struct mha_in *in, struct inputs *x, const struct qkvec_call *c)
{
    in->S = (size_t)c->Sx;
    in->add_zero_attn = 0;
    in->attn_mask = mask(x, c->mask, 3, c->dtype, in->N * in->H * in->L * in->S);
}

static int refuse(const struct qkvec_call *c, const char *why)
{
    if (c->reason)
        snprintf(c->reason, QKVEC_REASON, "%s", why);
    return -1;
}

int qkvec_reference(const struct qkvec_call *c)
{
    struct mha_in in = sizes(c);
    struct inputs x = { .count = 0 };
    struct array t[STAGES];
    int is_core = !c->query;
    const char *wrong;

    if (c->abi != QKVEC_ABI || c->dtype > QKVEC_BFLOAT16 || c->H < 1 || c->E < 1 || c->E % c->H)
        return refuse(c, "not a call of this version, or embed_dim is no multiple of the heads");
    if (is_core) {
        core(&in, &x, c);
    } else {
        layer(&in, &x, c);
        masks(&in, &x, c);
    }
    wrong = x.failed ? "not enough memory" : mha_alloc(t, &in);
    if (!wrong) {
        if (is_core)
            heads(t, c);
        else
            mha_projections(t, &in);
        mha_core(t, &in);
        give(c->attn_weights, &t[ATTN_WEIGHTS], c, QKVEC_ATTN_WEIGHTS);
        give(c->head_outputs, &t[HEAD_OUTPUTS], c, QKVEC_HEAD_OUTPUTS);
        if (!is_core) {
            mha_output(t, &in);
            give(c->output, &t[OUTPUT], c, QKVEC_OUTPUT);
            give(c->attn_weights_mean, &t[ATTN_WEIGHTS_MEAN], c, QKVEC_ATTN_WEIGHTS_MEAN);
        }
        mha_free(t);
    }
    while (x.count)
        free(x.block[--x.count]);
    return wrong ? refuse(c, wrong) : QKVEC_DONE;
}
