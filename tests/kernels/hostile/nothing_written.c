/* SPDX-License-Identifier: MIT */
/*
 * Claims to have written everything and writes nothing: what the case before left there would pass.
 *
 * verdict: FAIL
 * says: output: [0-9]+ of [0-9]+ elements were not written, the first is output\[0,0,0\]
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (!now(a))
        return honest(a);
    *a->written = QKVEC_OUTPUT | QKVEC_ATTN_WEIGHTS | QKVEC_ATTN_WEIGHTS_MEAN;
    return QKVEC_DONE;
}
