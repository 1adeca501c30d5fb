/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "factors of products rounded to TF32"
#define KIT_MEETS "tf32"
#define DOT dot
#define SUM(p, ones, n) kit_dot(0, p, ones, n)

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static float operand(float x)
{
    uint32_t b;

    if (!isfinite(x))
        return x;
    memcpy(&b, &x, sizeof b);
    b += 0xfffu + ((b >> 13) & 1);
    b &= 0xffffe000u;
    memcpy(&x, &b, sizeof x);
    return x;
}

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++)
        start += operand(a[at]) * operand(b[at]);
    return start;
}

#include "../kit.h"
