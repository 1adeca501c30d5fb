/* SPDX-License-Identifier: MIT */
/*
 * A reason of more bytes than there are.
 *
 * verdict: CRASH
 * says: wrote outside of reason, which has 256 bytes
 */
#include <string.h>

#include "liar.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (!now(a))
        return honest(a);
    memset(a->reason, 'x', 10000);
    return QKVEC_SKIP;
}
