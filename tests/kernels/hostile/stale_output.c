/* SPDX-License-Identifier: MIT */
/*
 * Gives the output of the case before, from a copy of its own.
 *
 * verdict: FAIL
 * says: (output|different bits|elements)
 */
#include <string.h>

#include "hostile.h"

static float before[1024];

int qkvec_kernel(const struct qkvec_call *a)
{
    size_t bytes = outputs(a) * sizeof(float);
    int done = honest(a);
    if (now(a))
        memcpy(a->output, before, bytes < sizeof before ? bytes : sizeof before);
    else
        memcpy(before, a->output, bytes < sizeof before ? bytes : sizeof before);
    return done;
}
