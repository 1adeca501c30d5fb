/* SPDX-License-Identifier: MIT */
/*
 * A reason of more bytes than there are.
 *
 * verdict: CRASH
 * says: wrote outside of reason, which has 256 bytes
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (!now(a))
        return honest(a);
    volatile char *reason = a->reason;    /* no memset(), which a sanitizer watches itself */
    for (int m = 0; m < 10000; m++)
        reason[m] = 'x';
    return QKVEC_SKIP;
}
