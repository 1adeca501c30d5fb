/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "positive terms apart from negative ones"
#define DOT dot

#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    float up = start > 0 ? start : 0, down = start > 0 ? 0 : start;

    for (size_t at = 0; at < n; at++) {
        float term = a[at] * b[at];
        if (term > 0)
            up += term;
        else
            down += term;
    }
    return up + down;
}

#include "../kit.h"
