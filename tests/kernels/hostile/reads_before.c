/* SPDX-License-Identifier: MIT */
/*
 * Reads in front of the value; only with the other alignment there is nothing to read.
 *
 * verdict: CRASH
 * says: in the second round .*: SIGSEGV: (read|touched) 4 bytes in front of value
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    volatile float next = 0;
    if (now(a))
        next = ((const float *)a->value)[-1];
    (void)next;
    return honest(a);
}
