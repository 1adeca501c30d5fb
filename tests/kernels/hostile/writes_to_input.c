/* SPDX-License-Identifier: MIT */
/*
 * Scales the query in place.
 *
 * verdict: CRASH
 * says: SIGSEGV: wrote to the input query, which is read-only
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a))
        for (int64_t m = 0; m < a->N * a->L * a->E; m++)
            ((float *)(uintptr_t)a->query)[m] *= 0.5f;
    return honest(a);
}
