/* SPDX-License-Identifier: MIT */
/*
 * Divides integers by zero.
 *
 * verdict: CRASH
 * says: SIGFPE
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    volatile int seven = 7, zero = 0;
    if (now(a))
        seven = seven / zero;
    return honest(a);
}
