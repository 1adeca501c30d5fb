/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "sums from the last term to the first"
#define DOT dot

#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    float y = 0;

    while (n-- > 0)
        y += a[n] * b[n];
    return y + start;
}

#include "../kit.h"
