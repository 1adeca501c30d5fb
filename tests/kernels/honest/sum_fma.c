/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "fused multiply and add"
#define DOT dot

#include <math.h>
#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++)
        start = fmaf(a[at], b[at], start);
    return start;
}

#include "../kit.h"
