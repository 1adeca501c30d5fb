/* SPDX-License-Identifier: MIT */
/*
 * Forks a process into a session of its own, where no signal to the worker's
 * group reaches it.
 *
 * verdict: PASS
 * says:
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a) && fork() == 0) {
        setsid();
        if (fork() == 0)
            setsid();
        for (;;)
            sleep(3600);
    }
    return honest(a);
}
