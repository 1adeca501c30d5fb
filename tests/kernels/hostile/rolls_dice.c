/* SPDX-License-Identifier: MIT */
/*
 * Other bits every time (as atomics in any order give), which --nondeterministic would permit.
 *
 * verdict: FAIL
 * says: two runs gave different bits .*
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "hostile.h"

static long clock_ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_nsec / 7;
}

int qkvec_kernel(const struct qkvec_call *a)
{
    float *y = a->output;
    int done = honest(a);
    for (size_t m = 0; now(a) && m < outputs(a); m++)
        y[m] *= 1 + 1.2e-7f * (float)(clock_ticks() & 1);
    return done;
}
