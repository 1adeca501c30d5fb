/* SPDX-License-Identifier: MIT */
/*
 * Never returns, with every signal blocked.
 *
 * verdict: TIMEOUT
 * says: no answer within 1 seconds
 * options: --timeout 1
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    sigset_t all;
    sigfillset(&all);
    if (now(a)) {
        sigprocmask(SIG_BLOCK, &all, NULL);
        for (;;)
            pause();
    }
    return honest(a);
}
