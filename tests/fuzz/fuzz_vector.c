/* SPDX-License-Identifier: MIT */
/*
 * Any archive as a vector: refused, or right enough that the recipe runs on it
 * and that it survives being packed and read again.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../ref/recipe/policy.h"
#include "../../ref/corpus/vector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Those that would take a second each are legal, and left to others. */
static int small(const struct mha_in *in)
{
    double N = (double)in->N + 1, L = (double)in->L + 1, S = (double)in->S + 3, E = (double)(in->E + in->Ek + in->Ev);

    return N * (L + S) * E * E < 1e6 && N * (double)in->H * L * S * E < 1e6;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npz z, packed = { 0 };
    struct vector v, again;
    struct array t[STAGES];

    if (npz_read_memory(&z, data, size))
        return 0;
    if (vector_from(&v, &z, "fuzz")) {
        assert(v.error[0] && !v.numbers && !v.file.arrays);
        return 0;
    }
    free(vector_text(&v, "about"));
    if (small(&v.in)) {
        assert(!mha_alloc(t, &v.in));
        policy_forward(t, &v.in, (int)(size % POLICIES), 65504);
        assert(!vector_pack(&packed, &v.in, v.is_causal, v.dropout, NPZ_F8));
        assert(!vector_put_stages(&packed, "", t));
        assert(!vector_from(&again, &packed, "again"));
        assert(again.count == v.count && again.in.N == v.in.N && again.in.L == v.in.L && again.in.S == v.in.S);
        vector_free(&again);
        mha_free(t);
    }
    vector_free(&v);
    return 0;
}
