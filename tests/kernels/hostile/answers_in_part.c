/* SPDX-License-Identifier: MIT */
/*
 * Says the first byte of an answer in the worker's place, and then nothing.
 *
 * verdict: TIMEOUT
 * says: no answer within 1 seconds
 * options: --timeout 1
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    if (now(a) && write(3, "x", 1) == 1)
        for (;;)
            sleep(1);
    return honest(a);
}
