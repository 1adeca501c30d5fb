/* SPDX-License-Identifier: MIT */
/*
 * Forks a process that would live on for an hour.
 *
 * verdict: PASS
 * says: 
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a) && fork() == 0)
        for (;;)
            sleep(3600);
    return honest(a);
}
