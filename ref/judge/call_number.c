/* SPDX-License-Identifier: MIT */
/* Numbers of the types that a kernel may be given. */
#include <math.h>
#include <string.h>

#include "call.h"

size_t call_number_bytes(uint32_t dtype)
{
    static const size_t bytes[] = {
        [QKVEC_FLOAT32] = 4, [QKVEC_FLOAT64] = 8, [QKVEC_FLOAT16] = 2, [QKVEC_BFLOAT16] = 2, [QKVEC_BOOL] = 1,
    };
    return bytes[dtype];
}

uint32_t call_dtype(const struct profile *p)
{
    switch (p - profiles) {
    case PROFILE_FLOAT64:  return QKVEC_FLOAT64;
    case PROFILE_FLOAT16:  return QKVEC_FLOAT16;
    case PROFILE_BFLOAT16: return QKVEC_BFLOAT16;
    default:               return QKVEC_FLOAT32;
    }
}

/* Sign, exponent (biased) and fraction of a 16-bit type; x has been rounded to it. */
static uint16_t half_bits(double x)
{
    unsigned sign = signbit(x) ? 0x8000u : 0;
    int exponent;

    if (isnan(x))
        return (uint16_t)(sign | 0x7E00);
    x = fabs(x);
    if (x > 65504)
        return (uint16_t)(sign | 0x7C00);
    frexp(x, &exponent);
    if (x < 0x1p-14)    /* subnormal: in steps of 2^-24 */
        return (uint16_t)(sign | (unsigned)ldexp(x, 24));
    return (uint16_t)(sign + ((unsigned)(exponent + 14) << 10) + (unsigned)ldexp(x, 11 - exponent) - 1024);
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double x = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
             : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

    return bits >> 15 ? -x : x;
}

/* The upper half of a float32. */
static uint16_t bfloat_bits(double x)
{
    float f = (float)x;
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static double bfloat_value(uint16_t upper)
{
    uint32_t bits = (uint32_t)upper << 16;
    float f;

    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

void call_put(void *to, uint32_t dtype, size_t i, double x)
{
    switch (dtype) {
    case QKVEC_FLOAT64:  ((double *)to)[i] = x; break;
    case QKVEC_FLOAT16:  ((uint16_t *)to)[i] = half_bits(profile_round(&profiles[PROFILE_FLOAT16], x)); break;
    case QKVEC_BFLOAT16: ((uint16_t *)to)[i] = bfloat_bits(profile_round(&profiles[PROFILE_BFLOAT16], x)); break;
    case QKVEC_BOOL:     ((unsigned char *)to)[i] = x != 0; break;
    default:             ((float *)to)[i] = (float)x; break;
    }
}

double call_get(const void *from, uint32_t dtype, size_t i)
{
    switch (dtype) {
    case QKVEC_FLOAT64:  return ((const double *)from)[i];
    case QKVEC_FLOAT16:  return half_value(((const uint16_t *)from)[i]);
    case QKVEC_BFLOAT16: return bfloat_value(((const uint16_t *)from)[i]);
    case QKVEC_BOOL:     return ((const unsigned char *)from)[i];
    default:             return (double)((const float *)from)[i];
    }
}
