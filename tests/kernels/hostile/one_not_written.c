/* SPDX-License-Identifier: MIT */
/*
 * Forgets the last element.
 *
 * verdict: FAIL
 * says: output: 1 of [0-9]+ elements were not written
 */
#include <string.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    float last;
    if (!now(a))
        return honest(a);
    memcpy(&last, (float *)a->output + outputs(a) - 1, sizeof last);
    int done = honest(a);
    memcpy((float *)a->output + outputs(a) - 1, &last, sizeof last);
    return done;
}
