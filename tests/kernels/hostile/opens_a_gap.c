/* SPDX-License-Identifier: MIT */
/*
 * Makes the unused page behind the output usable, and uses it.
 *
 * verdict: FAIL|CRASH
 * says: wrote to pages between the outputs|wrote behind the end of output
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "hostile.h"

#define PAGE 4096
#define MADV_GUARD_REMOVE_ 103

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    char *gap = (char *)(((uintptr_t)a->output & ~(uintptr_t)(PAGE - 1)) + PAGE);

    if (now(a)) {
        madvise(gap, PAGE, MADV_GUARD_REMOVE_);
        if (!mprotect(gap, PAGE, PROT_READ | PROT_WRITE))
            *(volatile float *)gap = 1;
    }
    return done;
}
