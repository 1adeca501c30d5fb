/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory; sums are cut off towards zero, as some matrix units do"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define DOT dot
#define STORE_SCORE(x) (x)

#include <math.h>
#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        double exact = (double)start + (double)a[at] * (double)b[at];
        start = (float)exact;
        if (fabs((double)start) > fabs(exact))
            start = nextafterf(start, 0);
    }
    return start;
}

#include "../kit.h"
