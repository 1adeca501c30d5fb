/* SPDX-License-Identifier: MIT */
/* Numbers of the types that a kernel may be given. */
#include <math.h>
#include <string.h>

#include "call.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

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

void call_put(void *to, uint32_t dtype, size_t first, const double *x, size_t count)
{
    void *at = (char *)to + first * call_number_bytes(dtype);

    switch (dtype) {
    case QKVEC_FLOAT64:  FOR(i, count) ((double *)at)[i] = x[i]; break;
    case QKVEC_FLOAT16:  FOR(i, count) ((uint16_t *)at)[i] = half_bits(profile_round(&profiles[PROFILE_FLOAT16], x[i])); break;
    case QKVEC_BFLOAT16: FOR(i, count) ((uint16_t *)at)[i] = bfloat_bits(profile_round(&profiles[PROFILE_BFLOAT16], x[i])); break;
    case QKVEC_BOOL:     FOR(i, count) ((unsigned char *)at)[i] = x[i] != 0; break;
    default:             FOR(i, count) ((float *)at)[i] = (float)x[i]; break;
    }
}

void call_get(double *x, const void *from, uint32_t dtype, size_t count)
{
    switch (dtype) {
    case QKVEC_FLOAT64:  FOR(i, count) x[i] = ((const double *)from)[i]; break;
    case QKVEC_FLOAT16:  FOR(i, count) x[i] = half_value(((const uint16_t *)from)[i]); break;
    case QKVEC_BFLOAT16: FOR(i, count) x[i] = bfloat_value(((const uint16_t *)from)[i]); break;
    case QKVEC_BOOL:     FOR(i, count) x[i] = ((const unsigned char *)from)[i]; break;
    default:             FOR(i, count) x[i] = (double)((const float *)from)[i]; break;
    }
}
