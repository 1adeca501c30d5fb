/* SPDX-License-Identifier: MIT */
/*
 * A failed assertion.
 *
 * verdict: CRASH
 * says: SIGABRT
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a))
        abort();
    return honest(a);
}
