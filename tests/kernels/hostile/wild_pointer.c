/* SPDX-License-Identifier: MIT */
/*
 * Follows a pointer to nowhere.
 *
 * verdict: CRASH
 * says: SIGSEGV: (an address outside of every array|a wild pointer)
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a))
        *(volatile float *)(uintptr_t)0x123456789000 = 1;
    return honest(a);
}
