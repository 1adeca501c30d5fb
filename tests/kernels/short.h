/* SPDX-License-Identifier: MIT */
/* Operands and sums that several kernels of these folders share. */
#ifndef KIT_SHORT_H
#define KIT_SHORT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A float rounded to nearest even without its last bits: 13 for TF32, 16 for bfloat16. */
static inline float kit_short(float x, unsigned bits)
{
    uint32_t b, last = (uint32_t)1 << bits;

    if (!isfinite(x))
        return x;
    memcpy(&b, &x, sizeof b);
    b += last / 2 - 1 + ((b >> bits) & 1);
    b &= ~(last - 1);
    memcpy(&x, &b, sizeof x);
    return x;
}

/* Eight accumulators, added up in pairs; what was there before comes last. */
static inline float kit_lanes8(float start, const float *a, const float *b, size_t n)
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

#endif
