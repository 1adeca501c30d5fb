/* SPDX-License-Identifier: MIT */
/*
 * Sums in another order where the query is not aligned.
 *
 * verdict: FAIL
 * says: two runs gave different bits
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    float *y = a->output;
    int done = honest(a);
    if (now(a) && (uintptr_t)a->query % 4096)
        for (size_t m = 0; m < outputs(a); m++)
            y[m] *= 1 + 1.2e-7f;
    return done;
}
