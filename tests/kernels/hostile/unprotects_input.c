/* SPDX-License-Identifier: MIT */
/*
 * Makes the input writable first, which the system does not let it.
 *
 * verdict: ERROR
 * says: the kernel returned 7
 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a)) {
        uintptr_t page = (uintptr_t)a->query & ~(uintptr_t)4095;
        if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE))
            return 7;
        ((float *)(uintptr_t)a->query)[0] = 1e9f;
    }
    return honest(a);
}
