/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "factors of products rounded to TF32"
#define KIT_MEETS "tf32"
#define DOT dot
#define SUM(p, ones, n) kit_dot(0, p, ones, n)

#include "../short.h"

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++)
        start += kit_short(a[at], 13) * kit_short(b[at], 13);
    return start;
}

#include "../kit.h"
