/* SPDX-License-Identifier: MIT */
/*
 * Allocates until malloc() gives NULL, and uses it.
 *
 * verdict: CRASH
 * says: SIGSEGV: a NULL pointer
 * options: --memory 256
 */
#include "hostile.h"

static char *volatile held;

int qkvec_kernel(const struct qkvec_call *a)
{
    while (now(a)) {
        char *more = malloc(1 << 20);
        more[0] = 1;
        held = more;
    }
    return honest(a);
}
