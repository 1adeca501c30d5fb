/* SPDX-License-Identifier: MIT */
/*
 * Never returns.
 *
 * verdict: TIMEOUT
 * says: no answer within 1 seconds
 * options: --timeout 1
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    volatile int more = 1;
    while (now(a) && more)
        ;
    return honest(a);
}
