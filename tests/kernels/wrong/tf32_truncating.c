/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "factors of products rounded to TF32, sums cut off towards zero"
#define KIT_MEETS "tf32"
#define DOT dot
#define SUM(p, ones, n) kit_dot(0, p, ones, n)

#include "../short.h"

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        double exact = (double)start + (double)kit_short(a[at], 13) * (double)kit_short(b[at], 13);
        start = (float)exact;
        if (fabs((double)start) > fabs(exact))
            start = nextafterf(start, 0);
    }
    return start;
}

#include "../kit.h"
