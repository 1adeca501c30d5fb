/* SPDX-License-Identifier: MIT */
/*
 * Ignores every signal and writes out of bounds.
 *
 * verdict: CRASH
 * says: SIGSEGV
 */
#include <signal.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    for (int s = 1; now(a) && s < 32; s++)
        signal(s, SIG_IGN);
    if (now(a))
        ((float *)a->output)[outputs(a)] = 0;
    return done;
}
