/* SPDX-License-Identifier: MIT */
/*
 * Reads one key too many and does nothing with it.
 *
 * verdict: CRASH
 * says: SIGSEGV: (read|touched) behind the end of key, 0 bytes from it
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    volatile float next = 0;
    if (now(a))
        next = ((const float *)a->key)[a->N * a->S * a->Ek];
    (void)next;
    return honest(a);
}
