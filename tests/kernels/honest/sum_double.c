/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "products and sums in double, rounded once"
#define DOT dot

#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    double y = start;

    for (size_t at = 0; at < n; at++)
        y += (double)a[at] * (double)b[at];
    return (float)y;
}

#include "../kit.h"
