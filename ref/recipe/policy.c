/* SPDX-License-Identifier: MIT */
/*
 * Letters: n batch item, h head, i query row, j key row, d channel of a head.
 */
#include "policy.h"

#include <math.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* need_weights=False in PyTorch: a query that may attend to nothing gets
 * weights of 0 in place of NaN, hence 0 before out_proj. */
static void zero_rows(struct array t[STAGES], const struct mha_in *in)
{
    const struct array *mask = &t[MASK];
    size_t rows = mask->shape[0] * mask->shape[1] * mask->shape[2], Sx = mask->shape[3], D = in->E / in->H;

    FOR(i, rows) {
        size_t open = 0;
        FOR(j, Sx) if (mask->v[i * Sx + j] != -(real)INFINITY) open++;
        if (open)
            continue;
        FOR(j, Sx) t[ATTN_WEIGHTS].v[i * Sx + j] = 0;
        FOR(d, D) t[HEAD_OUTPUTS].v[i * D + d] = 0;
    }
}

/* Many kernels never read a key that no query of its head may see. Its row
 * counts as zero, so that a NaN in it does not reach the result. */
static void masked_ignored(struct array t[STAGES], const struct mha_in *in)
{
    size_t H = in->H, L = in->L, Sx = t[K_HEADS].shape[2], D = t[K_HEADS].shape[3];

    mha_core(t, in);    /* for the merged mask alone */
    FOR(n, in->N) FOR(h, H) FOR(j, Sx) {
        size_t open = 0;
        FOR(i, L) if (t[MASK].v[((n * H + h) * L + i) * Sx + j] != -(real)INFINITY) open++;
        if (open)
            continue;
        FOR(d, D) t[K_HEADS].v[((n * H + h) * Sx + j) * D + d] = 0;
        FOR(d, D) t[V_HEADS].v[((n * H + h) * Sx + j) * D + d] = 0;
    }
}

const struct policy policies[POLICIES] = {
    { "pytorch", "as nn.MultiheadAttention with need_weights=True", NULL, NULL },
    { "zero_rows", "a row whose keys are all masked has weights of 0", NULL, zero_rows },
    { "masked_ignored", "a key that is masked for every query is never read", masked_ignored, NULL },
};

void policy_from_heads(struct array t[STAGES], const struct mha_in *in, const struct policy *policy)
{
    if (policy->before_core)
        policy->before_core(t, in);
    mha_core(t, in);
    if (policy->before_output)
        policy->before_output(t, in);
    mha_output(t, in);
}

void policy_forward(struct array t[STAGES], const struct mha_in *in, const struct policy *policy)
{
    mha_projections(t, in);
    policy_from_heads(t, in, policy);
}
