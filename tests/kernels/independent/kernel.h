/* SPDX-License-Identifier: MIT */
/* One more kernel, and what somebody may get wrong while writing it. */
#ifndef INDEPENDENT_KERNEL_H
#define INDEPENDENT_KERNEL_H

#include <stddef.h>

#include "qkvec/kernel.h"

struct independent_mistake {
    const char *name;
    const char *fault;     /* what to call it: records of faults.txt and symptoms that are right, with | between; "" where no record is */
};

/* [0] is the kernel without a mistake. */
extern const struct independent_mistake independent_mistakes[];
extern const size_t independent_count;

/* float32, the whole layer. */
int independent_kernel(const struct qkvec_call *call, size_t mistake);

#endif
