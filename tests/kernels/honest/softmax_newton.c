/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "the reciprocal by a guess and three steps of Newton"
#define NORMALISE INVERTED
#define INVERSE inverse

#include <math.h>

static float inverse(float x)
{
    int exponent;
    float part = frexpf(x, &exponent);

    if (!isfinite(x) || x <= 0)
        return 1 / x;
    float y = 2.9142f - 2 * part;
    for (int step = 0; step < 3; step++)
        y *= 2 - part * y;
    return ldexpf(y, -exponent);
}

#include "../kit.h"
