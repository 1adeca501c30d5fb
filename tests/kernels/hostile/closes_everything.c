/* SPDX-License-Identifier: MIT */
/*
 * Closes every descriptor, ours among them.
 *
 * verdict: CRASH
 * says: the kernel closed descriptors that are not its own
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    for (int fd = 0; now(a) && fd < 256; fd++)
        close(fd);
    return done;
}
