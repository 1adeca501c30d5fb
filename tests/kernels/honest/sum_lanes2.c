/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "two accumulators, as a compiler makes of SSE2 for float64; the tail by itself"
#define DOT dot

#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    float lane[2] = { 0 };
    size_t at = 0;

    for (; at + 2 <= n; at += 2)
        for (size_t k = 0; k < 2; k++)
            lane[k] += a[at + k] * b[at + k];
    for (size_t k = 0; k < 2; k++)
        start += lane[k];
    for (; at < n; at++)
        start += a[at] * b[at];
    return start;
}

#include "../kit.h"
