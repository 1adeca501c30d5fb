/* SPDX-License-Identifier: MIT */
/*
 * Prints to standard output: not our report, and no lie.
 *
 * verdict: PASS
 * says: 
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    puts("CRASH core/answer: not at all");
    fflush(stdout);
    return honest(a);
}
