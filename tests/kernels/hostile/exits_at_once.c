/* SPDX-License-Identifier: MIT */
/*
 * Calls _exit(3).
 *
 * verdict: CRASH
 * says: the kernel ended the process: exit status 3
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a))
        _exit(3);
    return honest(a);
}
