/* SPDX-License-Identifier: MIT */
/* The double side of float.c. Letters: k stage. */
#include "weave.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

const char *float_stages(double *const stage[STAGES], const struct mha_in *in)
{
    struct array own[STAGES];
    const char *error = mha_alloc(own, in);
    struct narrow n = {
        .N = in->N, .L = in->L, .S = in->S, .E = in->E, .Ek = in->Ek, .Ev = in->Ev, .H = in->H,
        .batched = in->batched, .batch_first = in->batch_first, .add_zero_attn = in->add_zero_attn,
        .attn_mask_ndim = in->attn_mask.ndim, .attn_masked = in->attn_mask.masked,
        .key_padding_mask_ndim = in->key_padding_mask.ndim, .key_padding_masked = in->key_padding_mask.masked,
    };
    size_t at = 0;

    if (error)
        return error;
#define TAKE(field, count) n.numbers[at++] = in->field;
    NARROW_ARRAYS(TAKE)
#undef TAKE
    FOR(k, STAGES) n.stage[k] = own[k].v;
    error = float_recipe(&n, stage);
    mha_free(own);
    return error;
}
