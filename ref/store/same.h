/* SPDX-License-Identifier: MIT */
/* When two numbers are the same: NaN equals NaN here. */
#ifndef QKVEC_SAME_H
#define QKVEC_SAME_H

#include <math.h>
#include <string.h>

/* NaN equals NaN, and 0 equals -0: for expected numbers. */
static inline int same_number(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

/* NaN equals NaN whatever its bits, 0 and -0 differ: for two runs of one kernel. */
static inline int same_bits(double x, double y)
{
    return (isnan(x) && isnan(y)) || !memcmp(&x, &y, sizeof x);
}

#endif
