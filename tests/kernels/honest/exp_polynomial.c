/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "an exp of its own: two ulp, by a polynomial"
#define EXP own_exp

#include <math.h>

static float own_exp(float x)
{
    if (!(x > -104))
        return isnan(x) ? x : 0;
    float whole = rintf(x * 1.442695041f), r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    return ldexpf(y * r * r + r + 1, (int)whole);
}

#include "../kit.h"
