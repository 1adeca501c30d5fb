/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "double, fused multiply and add"
#define KIT_TYPE QKVEC_FLOAT64
#define KIT_DOUBLE 1
#define KIT_PROFILE "float64"
#define DOT dot
#define NORMALISE DIVIDED_OUTPUT

#include <math.h>
#include <stddef.h>

static double dot(double start, const double *a, const double *b, size_t n)
{
    for (size_t at = 0; at < n; at++)
        start = fma(a[at], b[at], start);
    return start;
}

#include "../kit.h"
