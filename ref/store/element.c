/* SPDX-License-Identifier: MIT */
/* The types of an array's elements, and its numbers, whatever their type. */
#include "npz.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- types and shapes, as numpy spells them ---- */

static const struct {
    const char *name;
    size_t size;
} types[NPZ_TYPES] = { { "<f2", 2 }, { "<f4", 4 }, { "<f8", 8 }, { "<i8", 8 }, { "|b1", 1 }, { "|u1", 1 } };

const char *npz_type_name(enum npz_type type)
{
    return types[type].name;
}

size_t npz_type_size(enum npz_type type)
{
    return types[type].size;
}

const char *npz_shape_text(char text[128], const struct npz_array *a)
{
    return shape_text(text, 128, a->ndim, a->shape);
}

/* ---- float16: 1 bit of sign, 5 of exponent (biased by 15), 10 of fraction ---- */

static double half_value(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double x = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
             : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

    return bits >> 15 ? -x : x;
}

/* To nearest, ties to even; from 65520 on that is infinity. */
static unsigned half_bits(double x)
{
    unsigned sign = signbit(x) ? 0x8000u : 0;
    int exponent;

    if (isnan(x))
        return sign | 0x7E00;
    x = fabs(x);
    if (x >= 65520)
        return sign | 0x7C00;
    frexp(x, &exponent);
    if (x == 0 || exponent < -13)
        exponent = -13;    /* below 2^-14 the steps stay as they are there */
    double steps = ldexp(x, 11 - exponent), whole = floor(steps), rest = steps - whole;
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1))
        whole += 1;
    /* A fraction that overflows carries into the exponent, as it should. */
    return sign | (unsigned)((exponent + 13) * 1024 + (int)whole);
}

/* ---- any type ---- */

double npz_value(const struct npz_array *a, size_t i)
{
    switch (a->type) {
    case NPZ_F2: return half_value(((const uint16_t *)a->data)[i]);
    case NPZ_F4: return (double)((const float *)a->data)[i];
    case NPZ_F8: return ((const double *)a->data)[i];
    case NPZ_I8: return (double)((const int64_t *)a->data)[i];
    default:     return ((const unsigned char *)a->data)[i];
    }
}

void npz_set(struct npz_array *a, size_t i, double x)
{
    switch (a->type) {
    case NPZ_F2: ((uint16_t *)a->data)[i] = (uint16_t)half_bits(x); break;
    case NPZ_F4: ((float *)a->data)[i] = (float)x; break;
    case NPZ_F8: ((double *)a->data)[i] = x; break;
    case NPZ_I8: ((int64_t *)a->data)[i] = (int64_t)x; break;
    case NPZ_B1: ((unsigned char *)a->data)[i] = x != 0; break;
    default:     ((unsigned char *)a->data)[i] = (unsigned char)x; break;
    }
}

/* Most arrays are of two types: their loops have nothing to decide. */
void npz_values(double *to, const struct npz_array *a)
{
    if (a->type == NPZ_F8 && a->size)
        memcpy(to, a->data, a->size * sizeof *to);
    else if (a->type == NPZ_F4)
        for (size_t i = 0; i < a->size; i++)
            to[i] = (double)((const float *)a->data)[i];
    else
        for (size_t i = 0; i < a->size; i++)
            to[i] = npz_value(a, i);
}
