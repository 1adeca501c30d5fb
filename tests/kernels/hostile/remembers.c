/* SPDX-License-Identifier: MIT */
/*
 * The result depends a little on how many cases there were before.
 *
 * verdict: FAIL
 * says: two runs gave different bits \(output, element [0-9]+ of [0-9]+: 
 */
#include "hostile.h"

static int cases;

int qkvec_kernel(const struct qkvec_call *a)
{
    float *y = a->output;
    int done = honest(a);
    cases++;
    for (size_t m = 0; now(a) && m < outputs(a); m++)
        y[m] *= 1 + 6e-8f * (float)cases;
    return done;
}
