/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "double, sums backwards, logarithm of the sum, bias first"
#define KIT_TYPE QKVEC_FLOAT64
#define KIT_DOUBLE 1
#define KIT_PROFILE "float64"
#define DOT dot
#define NORMALISE LOGARITHM
#define SCALE ROOTS
#define BIAS_FIRST 1

#include <stddef.h>

static double dot(double start, const double *a, const double *b, size_t n)
{
    double y = 0;

    while (n-- > 0)
        y += a[n] * b[n];
    return y + start;
}

#include "../kit.h"
