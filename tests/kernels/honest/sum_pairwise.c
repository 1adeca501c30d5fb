/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "sums of halves of halves"
#define DOT dot

#include <stddef.h>

static float half(const float *a, const float *b, size_t n)
{
    return n == 1 ? *a * *b : half(a, b, n / 2) + half(a + n / 2, b + n / 2, n - n / 2);
}

static float dot(float start, const float *a, const float *b, size_t n)
{
    return n ? start + half(a, b, n) : start;
}

#include "../kit.h"
