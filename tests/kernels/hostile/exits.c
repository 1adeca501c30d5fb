/* SPDX-License-Identifier: MIT */
/*
 * Calls exit(0), as if all were well.
 *
 * verdict: CRASH
 * says: the kernel ended the process: exit status 0
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a))
        exit(0);
    return honest(a);
}
