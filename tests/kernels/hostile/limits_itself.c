/* SPDX-License-Identifier: MIT */
/*
 * Takes all address space from its process, which concerns later cases only.
 *
 * verdict: PASS
 * says:
 */
#define _POSIX_C_SOURCE 200809L
#include <sys/resource.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int status = honest(a);

    if (now(a))
        setrlimit(RLIMIT_AS, &(struct rlimit){ 1 << 20, 1 << 20 });
    return status;
}
