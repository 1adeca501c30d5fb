/* SPDX-License-Identifier: MIT */
/*
 * Begins one element too early.
 *
 * verdict: CRASH
 * says: in the second round .*: SIGSEGV: (wrote|touched) 4 bytes in front of output
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    if (now(a))
        ((float *)a->output)[-1] = 0;
    return done;
}
