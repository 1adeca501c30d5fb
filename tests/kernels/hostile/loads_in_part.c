/* SPDX-License-Identifier: MIT */
/*
 * Its constructor says the first byte of what the worker would say, and then nothing.
 *
 * verdict: NONE
 * says: cannot be loaded: still loading after 1 seconds
 * options: --timeout 1
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

__attribute__((constructor)) static void begin(void)
{
    if (write(3, "x", 1) == 1)
        for (;;)
            sleep(1);
}

int qkvec_kernel(const struct qkvec_call *a)
{
    return honest(a);
}
