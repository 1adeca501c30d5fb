/* SPDX-License-Identifier: MIT */
/*
 * Lays a page of its own over the value, with the same numbers: later cases
 * would get those of this one. Here it is the 18th that has the memory of the first.
 *
 * verdict: ERROR
 * says: the inputs are not those that were given
 * options: --once
 * vectors: core/answer core/cross core/encdec core/exact core/no_bias core/per_head core/printable core/self causal/self causal/square softmax/flat softmax/ladder softmax/negative softmax/ties softmax/wide softmax/positive softmax/positive_100 softmax/negative_apart
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "hostile.h"

#define PAGE 4096

int qkvec_kernel(const struct qkvec_call *a)
{
    static char kept[PAGE];
    static int cases;
    char *page = (char *)((uintptr_t)a->value & ~(uintptr_t)(PAGE - 1));

    if (!cases++) {
        memcpy(kept, page, PAGE);
        if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
            memcpy(page, kept, PAGE);
    }
    return honest(a);
}
