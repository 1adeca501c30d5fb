/* SPDX-License-Identifier: MIT */
/*
 * Takes for granted that there is a bias.
 *
 * verdict: CRASH
 * says: SIGSEGV: a NULL pointer
 * vectors: core/answer core/no_bias core/self
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    volatile float b = ((const float *)a->in_proj_bias)[0];
    (void)b;
    return honest(a);
}
