/* SPDX-License-Identifier: MIT */
/*
 * profile.c - the precision classes, and rounding to their types.
 *
 * tf32 accumulates in float32 with operands of 10 bits; 2^-23 stands for tensor
 * cores that truncate while they accumulate, 2^-10 for hardware that truncates
 * operands. Truncation leans the same way at every step, hence its wider limit
 * for noise. The 16-bit types accumulate in float32 and store in 16 bits.
 */
#include "profile.h"

#include <math.h>
#include <string.h>

const struct profile profiles[PROFILES] = {
    /* name        u         s         o         floor      largest                 smallest   noise */
    { "float64",  0x1p-53,  0,        0,        0x1p-500,  0x1.fffffffffffffp1023, 0,         2 },
    { "float32",  0x1p-24,  0,        0,        0x1p-124,  0x1.fffffep127,         0,         2 },
    { "tf32",     0x1p-23,  0,        0x1p-10,  0x1p-124,  0x1.fffffep127,         0,         6 },
    { "float16",  0x1p-23,  0x1p-11,  0,        0x1p-24,   65504,                  0x1p-24,   2 },
    { "bfloat16", 0x1p-23,  0x1p-8,   0,        0x1p-124,  0x1.fep127,             0x1p-133,  2 },
};

const struct profile *profile_named(const char *name)
{
    for (int k = 0; k < PROFILES; k++)
        if (!strcmp(profiles[k].name, name))
            return &profiles[k];
    return NULL;
}

/* Round to bfloat16, float16 or float32: half to even, by rint() of a multiple of
 * the last place. (store/element.c converts float16 files; none holds bfloat16.) */
double profile_round(const struct profile *p, double x)
{
    if (p == &profiles[PROFILE_FLOAT64] || !isfinite(x) || x == 0)
        return x;
    if (p->smallest == 0)
        return (double)(float)x;
    int exponent;
    frexp(x, &exponent);                                         /* |x| in [2^(exponent-1), 2^exponent) */
    double last = ldexp(2 * p->s, exponent - 1);
    if (last < p->smallest)
        last = p->smallest;
    double y = rint(x / last) * last;
    return fabs(y) > p->largest ? copysign(INFINITY, x) : y;
}

double profile_rounding(const void *profile, double x)
{
    return profile_round(profile, x);
}
