/* SPDX-License-Identifier: MIT */
/*
 * Dies of SIGKILL, as under the out-of-memory killer.
 *
 * verdict: CRASH
 * says: SIGKILL, and nothing shows that it came from outside; tried once more: 
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a))
        raise(SIGKILL);
    return honest(a);
}
