/* SPDX-License-Identifier: MIT */
/*
 * Shortens the memory that the outputs are in.
 *
 * verdict: ERROR|CRASH
 * says: (changed the size of its output memory|SIGBUS|exit status)
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    for (int fd = 3; now(a) && fd < 64; fd++)
        if (ftruncate(fd, 0))
            continue;
    return done;
}
