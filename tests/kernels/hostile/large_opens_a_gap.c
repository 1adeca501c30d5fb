/* SPDX-License-Identifier: MIT */
/*
 * The same where arrays are larger than a page.
 *
 * verdict: FAIL
 * says: wrote to pages between the outputs
 * vectors: core/answer medium/e256 core/self
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#define NOW (a->E == 256)
#include "hostile.h"

#define PAGE 4096

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    char *last = (char *)a->output + 4 * outputs(a) - 1, *gap = (char *)(((uintptr_t)last & ~(uintptr_t)(PAGE - 1)) + PAGE);

    if (now(a) && !mprotect(gap, PAGE, PROT_READ | PROT_WRITE))
        *(volatile float *)gap = 1;
    return done;
}
