/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "compensated sums"
#define DOT dot

#include <math.h>
#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    float y = 0, lost = 0;

    for (size_t at = 0; at < n; at++) {
        float term = a[at] * b[at] - lost, sum = y + term;
        lost = isfinite(sum) ? (sum - y) - term : 0;
        y = sum;
    }
    return y + start;
}

#include "../kit.h"
