/* SPDX-License-Identifier: MIT */
/*
 * Its constructor aborts.
 *
 * verdict: NONE
 * says: cannot be loaded: the process ended with SIGABRT while it loaded
 */
#include "hostile.h"

__attribute__((constructor)) static void begin(void)
{
    abort();
}

int qkvec_kernel(const struct qkvec_call *a)
{
    return honest(a);
}
