/* SPDX-License-Identifier: MIT */
/*
 * A call in a 16-bit type becomes one in float32: inputs are widened, and the
 * outputs are rounded.
 */
#ifndef WIDE_H
#define WIDE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "qkvec/kernel.h"

static inline float wide_from(uint32_t type, uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float x;

    if (type == QKVEC_BFLOAT16) {
        memcpy(&x, &wide, sizeof x);
        return x;
    }
    x = exponent == 31 ? fraction ? NAN : INFINITY : exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
    return bits >> 15 ? -x : x;
}

static inline uint16_t wide_to(uint32_t type, float x)
{
    uint32_t bits, sign;
    int exponent;

    memcpy(&bits, &x, sizeof bits);
    sign = bits >> 16 & 0x8000;
    if (type == QKVEC_BFLOAT16)
        return (uint16_t)(isnan(x) ? 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    if (isnan(x) || fabsf(x) >= 65520)
        return (uint16_t)(sign | (isnan(x) ? 0x7E00 : 0x7C00));
    frexpf(x, &exponent);
    exponent = exponent - 1 < -14 || x == 0 ? -14 : exponent - 1;
    return (uint16_t)(sign | (uint32_t)(((exponent + 14) << 10) + lrintf(ldexpf(fabsf(x), 10 - exponent))));
}

/* Replace an input (count) by its widened copy; NULL stays. */
static int wide_input(const void **input, uint32_t type, int64_t count)
{
    const uint16_t *from = *input;
    float *to = from ? malloc(((size_t)count + 1) * sizeof *to) : NULL;

    for (int64_t m = 0; to && m < count; m++)
        to[m] = wide_from(type, from[m]);
    int failed = from && !to;
    *input = to;
    return failed;
}

/* Run a layer that knows float32 only. Skips float64. */
static inline int wide_call(const struct qkvec_call *a, int (*layer)(const struct qkvec_call *))
{
    if (a->dtype == QKVEC_FLOAT32)
        return layer(a);
    if (a->dtype == QKVEC_FLOAT64)
        return QKVEC_SKIP;
    struct qkvec_call b = *a;
    int64_t maps = a->attn_mask_ndim == 3 ? a->N * a->H : 1;
    int attn = a->attn_mask && a->attn_mask_dtype != QKVEC_BOOL, padding = a->key_padding_mask && a->padding_dtype != QKVEC_BOOL;
    struct { const void **input; int64_t count; } in[] = {
        { &b.query, a->N * a->L * a->E }, { &b.key, a->N * a->S * a->Ek }, { &b.value, a->N * a->S * a->Ev },
        { &b.q_weight, a->E * a->E }, { &b.k_weight, a->E * a->Ek }, { &b.v_weight, a->E * a->Ev },
        { &b.in_proj_bias, 3 * a->E }, { &b.out_weight, a->E * a->E }, { &b.out_bias, a->E }, { &b.bias_k, a->E }, { &b.bias_v, a->E },
        { &b.attn_mask, maps * a->L * a->S }, { &b.key_padding_mask, a->N * a->S },
    };
    struct { void **wide; void *narrow; int64_t count; } out[] = {
        { &b.output, a->output, a->N * a->L * a->E }, { &b.attn_weights, a->attn_weights, a->N * a->H * a->L * a->Sx },
        { &b.attn_weights_mean, a->attn_weights_mean, a->N * a->L * a->Sx },
    };
    size_t inputs = sizeof in / sizeof *in, outputs = sizeof out / sizeof *out;
    int status = 0;

    for (size_t k = 0; k < inputs; k++) {
        int flags = (in[k].input == &b.attn_mask && !attn) || (in[k].input == &b.key_padding_mask && !padding);
        if (flags)
            in[k].count = -1;    /* stays as it is */
        else
            status |= wide_input(in[k].input, a->dtype, in[k].count);
    }
    for (size_t k = 0; k < outputs; k++)
        status |= !(*out[k].wide = calloc((size_t)out[k].count + 1, sizeof(float)));
    b.dtype = QKVEC_FLOAT32;
    b.attn_mask_dtype = attn ? QKVEC_FLOAT32 : QKVEC_BOOL;
    b.padding_dtype = padding ? QKVEC_FLOAT32 : QKVEC_BOOL;
    status = status ? 2 : layer(&b);
    for (size_t k = 0; k < outputs; k++) {
        for (int64_t m = 0; !status && m < out[k].count; m++)
            ((uint16_t *)out[k].narrow)[m] = wide_to(a->dtype, ((const float *)*out[k].wide)[m]);
        free(*out[k].wide);
    }
    for (size_t k = 0; k < inputs; k++)
        if (in[k].count >= 0)
            free((void *)(uintptr_t)*in[k].input);
    return status;
}

#endif
