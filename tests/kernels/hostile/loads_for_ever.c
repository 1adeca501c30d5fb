/* SPDX-License-Identifier: MIT */
/*
 * Its constructor never returns.
 *
 * verdict: NONE
 * says: cannot be loaded: still loading after 1 seconds
 * options: --timeout 1
 */
#include "hostile.h"

__attribute__((constructor)) static void begin(void)
{
    volatile int more = 1;
    while (more)
        ;
}

int qkvec_kernel(const struct qkvec_call *a)
{
    return honest(a);
}
