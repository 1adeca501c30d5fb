/* SPDX-License-Identifier: MIT */
/*
 * Letters: f fault, k stage, m element of a whole array.
 */
#include "faults.h"

#include <string.h>

#include "narrow.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

const struct fault fault_none = { "none", "the recipe itself", "", "", mha_forward, narrow_recipe };

const struct fault *fault_named(const char *name)
{
    FOR(f, fault_count)
        if (!strcmp(faults[f].name, name))
            return &faults[f];
    return NULL;
}

const char *fault_forward(struct array t[STAGES], const struct mha_in *in, const struct fault *f, int narrow)
{
    FOR(k, STAGES) if (t[k].v) FOR(m, t[k].size) t[k].v[m] = 0;    /* what a fault leaves out is 0, not a leftover */
    f->forward(t, in);
    if (!narrow)
        return NULL;

    struct narrow n = {
        .N = in->N, .L = in->L, .S = in->S, .E = in->E, .Ek = in->Ek, .Ev = in->Ev, .H = in->H,
        .batched = in->batched, .batch_first = in->batch_first, .add_zero_attn = in->add_zero_attn,
        .attn_mask_ndim = in->attn_mask.ndim, .attn_masked = in->attn_mask.masked,
        .key_padding_mask_ndim = in->key_padding_mask.ndim, .key_padding_masked = in->key_padding_mask.masked,
    };
    size_t at = 0;
#define TAKE(field, count) n.numbers[at++] = in->field;
    NARROW_ARRAYS(TAKE)
#undef TAKE
    FOR(k, STAGES) n.stage[k] = t[k].v;
    return narrow_forward(&n, f->forward_float);
}
