/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "an exp with a relative error of 1e-4: a cubic"
#define KIT_MEETS "tf32"
#define EXP own_exp

#include <math.h>

static float own_exp(float x)
{
    if (!(x > -87))
        return isnan(x) ? x : 0;
    float t = x * 1.442695041f, whole = floorf(t), r = t - whole;
    return ldexpf(0.99992522f + r * (0.69583354f + r * (0.22606716f + r * 0.07802452f)) , (int)whole);
}

#include "../kit.h"
