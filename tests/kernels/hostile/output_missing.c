/* SPDX-License-Identifier: MIT */
/*
 * Leaves out the one output that must be there.
 *
 * verdict: FAIL
 * says: output: not given
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    if (now(a))
        *a->written = QKVEC_ATTN_WEIGHTS;
    return done;
}
