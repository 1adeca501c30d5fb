/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "sums in another order: every seventh term, seven times"
#define DOT dot

#include <stddef.h>

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t from = 0; from < 7; from++)
        for (size_t at = from; at < n; at += 7)
            start += a[at] * b[at];
    return start;
}

#include "../kit.h"
