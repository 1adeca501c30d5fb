/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "factors of products as two bfloat16 numbers, the product of the small ones left out"
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
    b += 0x7fffu + ((b >> 16) & 1);
    b &= 0xffff0000u;
    memcpy(&x, &b, sizeof x);
    return x;
}

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        float x = operand(a[at]), y = operand(b[at]), product = x * y;
        start += isfinite(product) ? product + (x * operand(b[at] - y) + operand(a[at] - x) * y) : product;
    }
    return start;
}

#include "../kit.h"
