/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "eight accumulators, fused multiply and add, bias first"
#define DOT dot
#define BIAS_FIRST 1

#include <math.h>
#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    float lane[8] = { 0 };
    size_t at = 0;

    for (; at + 8 <= n; at += 8)
        for (size_t k = 0; k < 8; k++)
            lane[k] = fmaf(a[at + k], b[at + k], lane[k]);
    for (; at < n; at++)
        lane[at % 8] = fmaf(a[at], b[at], lane[at % 8]);
    for (size_t width = 4; width; width /= 2)
        for (size_t k = 0; k < width; k++)
            lane[k] += lane[k + width];
    return lane[0] + start;
}

#include "../kit.h"
