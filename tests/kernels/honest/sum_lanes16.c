/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "sixteen accumulators, added up as a tree"
#define DOT dot

#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    float lane[16] = { 0 };
    size_t at = 0;

    for (; at + 16 <= n; at += 16)
        for (size_t k = 0; k < 16; k++)
            lane[k] += a[at + k] * b[at + k];
    for (; at < n; at++)
        lane[at % 16] += a[at] * b[at];
    for (size_t width = 8; width; width /= 2)
        for (size_t k = 0; k < width; k++)
            lane[k] += lane[k + width];
    return lane[0] + start;
}

#include "../kit.h"
