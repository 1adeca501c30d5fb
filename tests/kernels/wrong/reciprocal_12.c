/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "a reciprocal of 12 bits"
#define KIT_MEETS "float16"
#define NORMALISE INVERTED
#define INVERSE inverse

#include <math.h>

static float inverse(float x)
{
    int exponent;
    float part = frexpf(1 / x, &exponent);

    return isfinite(part) ? ldexpf(floorf(part * 4096) / 4096, exponent) : part;
}

#include "../kit.h"
