/* SPDX-License-Identifier: MIT */
/*
 * One element too many: the loop ends at <= and not at <.
 *
 * verdict: CRASH
 * says: SIGSEGV: (wrote|touched) behind the end of output, 0 bytes from it
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    if (now(a))
        ((float *)a->output)[outputs(a)] = 0;
    return done;
}
