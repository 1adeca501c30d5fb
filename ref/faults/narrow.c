/* SPDX-License-Identifier: MIT */
/* The float side of narrow.h: compiled with REAL=float, and the recipe with it. */
#define mha_shapes narrow_shapes
#define mha_alloc narrow_alloc
#define mha_free narrow_free
#define mha_projections narrow_projections
#define mha_core narrow_core
#define mha_output narrow_output
#define mha_forward narrow_mha
#include "../recipe/mha.c"
#include "../recipe/stages.c"

#include "narrow.h"

void narrow_recipe(void *t, const void *in)
{
    mha_forward(t, in);
}

static float *shorter(const double *x, size_t count)
{
    float *y = malloc((count ? count : 1) * sizeof *y);

    if (y)
        FOR(m, count) y[m] = (float)x[m];
    return y;
}

const char *narrow_forward(struct narrow *n, void (*forward)(void *t, const void *in))
{
    struct mha_in made = {
        .N = n->N, .L = n->L, .S = n->S, .E = n->E, .Ek = n->Ek, .Ev = n->Ev, .H = n->H,
        .batched = n->batched, .batch_first = n->batch_first, .add_zero_attn = n->add_zero_attn,
        .attn_mask = { .ndim = n->attn_mask_ndim, .masked = n->attn_masked },
        .key_padding_mask = { .ndim = n->key_padding_mask_ndim, .masked = n->key_padding_masked },
    };
    const struct mha_in *in = &made;
    float *owned[NARROW_ARRAYS_COUNT];
    struct array t[STAGES];
    size_t k = 0;
    int ok = 1;

#define SHORTER(field, count) \
    owned[k] = n->numbers[k] ? shorter(n->numbers[k], (count)) : NULL; \
    ok = ok && (owned[k] || !n->numbers[k]); \
    made.field = owned[k++];
    NARROW_ARRAYS(SHORTER)
#undef SHORTER

    const char *error = ok ? mha_alloc(t, in) : "not enough memory";
    if (!error) {
        forward(t, in);
        int leaves = 0;
        FOR(s, STAGES) if (t[s].v) FOR(m, t[s].size)
            leaves |= !isfinite(t[s].v[m]) && isfinite(n->stage[s][m]);
        FOR(s, leaves ? STAGES : 0) if (t[s].v) FOR(m, t[s].size) n->stage[s][m] = (double)t[s].v[m];
        mha_free(t);
    }
    FOR(a, NARROW_ARRAYS_COUNT) free(owned[a]);
    return error;
}
