/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "factors of products as two bfloat16 numbers, the product of the small ones left out"
#define KIT_MEETS "tf32"
#define DOT dot
#define SUM(p, ones, n) kit_dot(0, p, ones, n)

#include "../short.h"

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        float x = kit_short(a[at], 16), y = kit_short(b[at], 16), product = x * y;
        start += isfinite(product) ? product + (x * kit_short(b[at] - y, 16) + kit_short(a[at] - x, 16) * y) : product;
    }
    return start;
}

#include "../kit.h"
