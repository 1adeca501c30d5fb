/* SPDX-License-Identifier: MIT */
/*
 * Answers in the first round only.
 *
 * verdict: FAIL
 * says: skipped in one round and answered in the other
 */
#include "hostile.h"

static int seen;

int qkvec_kernel(const struct qkvec_call *a)
{
    return now(a) && seen++ ? QKVEC_SKIP : honest(a);
}
