/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "subnormal numbers are zero"
#define ENTER FLUSH
#define LEAVE RESTORE

#include <stddef.h>

/* The processor does it, where we know how to ask; elsewhere each term and sum is looked at. */
#if defined(__SSE__)
#include <xmmintrin.h>
#define FLUSH unsigned control = _mm_getcsr(); _mm_setcsr(control | 0x8040u)
#define RESTORE _mm_setcsr(control)
#else
#include <math.h>
#define FLUSH (void)0
#define RESTORE (void)0
#define DOT dot
static float flush(float x)
{
    return fabsf(x) < 0x1p-126f ? 0 : x;
}

static float dot(float start, const float *a, const float *b, size_t n)
{
    for (size_t at = 0; at < n; at++)
        start = flush(start + flush(flush(a[at]) * flush(b[at])));
    return start;
}
#endif

#include "../kit.h"
