/* SPDX-License-Identifier: MIT */
/*
 * Writes a whole row too many.
 *
 * verdict: CRASH
 * says: SIGSEGV: .*(output|attn_weights)
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    for (int64_t m = 0; now(a) && m < a->E; m++)
        ((float *)a->output)[outputs(a) + (size_t)m] = 0;
    return done;
}
