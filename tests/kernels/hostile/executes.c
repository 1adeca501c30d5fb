/* SPDX-License-Identifier: MIT */
/*
 * Becomes another program, which does not end.
 *
 * verdict: CRASH
 * says: closed descriptors that are not its own, or executed another program
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a))
        execl("/bin/sleep", "sleep", "3600", (char *)0);
    return honest(a);
}
