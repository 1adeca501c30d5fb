/* SPDX-License-Identifier: MIT */
/*
 * Does nothing: a run that judged nothing is no pass.
 *
 * verdict: NONE
 * says: nothing was judged
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    (void)a;
    return QKVEC_SKIP;
}
