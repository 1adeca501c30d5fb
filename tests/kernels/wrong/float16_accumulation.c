/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "sums in float16"
#define KIT_MEETS "none"
#define DOT dot

#include <math.h>
#include <stddef.h>

static float kit_float16(float x);

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++)
        start = kit_float16(start + a[at] * b[at]);
    return start;
}

#include "../kit.h"
