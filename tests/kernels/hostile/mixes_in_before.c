/* SPDX-License-Identifier: MIT */
/*
 * Lets the number in front of an array into its result, with weight 0: it shows
 * only as long as what is there is NaN.
 *
 * verdict: FAIL
 * says: output: 1 of [0-9]* elements are beyond
 * options: --once
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    if (now(a) && done == QKVEC_DONE)
        ((float *)a->output)[0] += 0 * ((const float *)a->out_weight)[-1];
    return done;
}
