/* SPDX-License-Identifier: MIT */
/*
 * Gigabytes on standard output.
 *
 * verdict: ERROR
 * says: printed more than 64 MiB in one case
 */
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    while (now(a))
        puts("a line of debugging output that nobody has asked for");
    return honest(a);
}
