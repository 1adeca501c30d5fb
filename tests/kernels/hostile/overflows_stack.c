/* SPDX-License-Identifier: MIT */
/*
 * Recursion without an end.
 *
 * verdict: CRASH
 * says: SIGSEGV: the stack is too small for it
 */
#include "hostile.h"

static unsigned deeper(unsigned n)
{
    volatile char frame[4096];
    frame[n % sizeof frame] = (char)n;
    return n ? deeper(n + 1) + (unsigned char)frame[n % sizeof frame] : 0;
}

int qkvec_kernel(const struct qkvec_call *a)
{
    return now(a) ? (int)deeper(1) : honest(a);
}
