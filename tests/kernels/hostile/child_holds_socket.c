/* SPDX-License-Identifier: MIT */
/*
 * Ends while a child holds its descriptors open.
 *
 * verdict: CRASH
 * says: the kernel ended the process: exit status 3
 * options: --timeout 30
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a)) {
        if (fork() == 0)
            for (;;)
                sleep(3600);
        _exit(3);
    }
    return honest(a);
}
