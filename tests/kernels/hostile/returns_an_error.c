/* SPDX-License-Identifier: MIT */
/*
 * Gives up with a number and a reason.
 *
 * verdict: ERROR
 * says: the kernel returned -3: no such device
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (!now(a))
        return honest(a);
    snprintf(a->reason, QKVEC_REASON, "no such device");
    return -3;
}
