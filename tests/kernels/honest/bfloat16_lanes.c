/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory, eight accumulators"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define DOT dot
#define SCALE ON_Q
#define BIAS_FIRST 1

#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    float lane[8] = { 0 };
    size_t at = 0;

    for (; at + 8 <= n; at += 8)
        for (size_t k = 0; k < 8; k++)
            lane[k] += a[at + k] * b[at + k];
    for (; at < n; at++)
        lane[at % 8] += a[at] * b[at];
    for (size_t width = 4; width; width /= 2)
        for (size_t k = 0; k < width; k++)
            lane[k] += lane[k + width];
    return lane[0] + start;
}

#include "../kit.h"
