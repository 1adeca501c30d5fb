/* SPDX-License-Identifier: MIT */
/*
 * Forks and returns in both processes, so that a case gets two answers; the
 * second comes while the next one runs.
 *
 * verdict: ERROR
 * says: unexpected reply: in an earlier case the kernel returned twice
 * options: --once
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>
#include <unistd.h>

#include "hostile.h"

static int forked;

int qkvec_kernel(const struct qkvec_call *a)
{
    if (forked)
        nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
    if (now(a)) {
        pid_t child = fork();
        forked = child >= 0;
        if (child == 0)    /* until the first answer is taken */
            nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
    }
    return honest(a);
}
