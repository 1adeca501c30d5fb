/* SPDX-License-Identifier: MIT */
/*
 * Lays a page of its own over the output: nobody else will see what it writes there.
 *
 * verdict: ERROR
 * says: the outputs are not those that the kernel left
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "hostile.h"

#define PAGE 4096

int qkvec_kernel(const struct qkvec_call *a)
{
    char *page = (char *)((uintptr_t)a->output & ~(uintptr_t)(PAGE - 1));

    if (now(a) && mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
        return QKVEC_SKIP;
    return honest(a);
}
