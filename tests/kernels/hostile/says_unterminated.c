/* SPDX-License-Identifier: MIT */
/*
 * A reason without its final zero.
 *
 * verdict: ERROR
 * says: the kernel returned 5: x{100}
 */
#include <string.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (!now(a))
        return honest(a);
    memset(a->reason, 'x', QKVEC_REASON);
    return 5;
}
