/* SPDX-License-Identifier: MIT */
/*
 * An honest kernel, with at most one fault planted into it: built with -D
 * PLANTED=NAME, a line of the table below. Each is a mistake of the kind that
 * kernels have at the ends of their tiles, in combinations of options and at
 * some numbers. CMakeLists.txt reads the table; planted.sh says what is tested.
 *
 * Letters: n batch item, h head, i query, j key, d channel of a head, c channel of an argument.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "qkvec/kernel.h"
#include "wide.h"

enum {
    /* PLANTS begin */
    none,                   /* the honest kernel itself */
    keys_tail,              /* keys in vectors of eight: a tail of two behind the first vector loses one */
    kdim_tail,              /* channels of the key in vectors of eight: a tail of three behind the first loses one */
    padding_tail,           /* a float padding mask in vectors of eight: the tail behind the first is not added */
    query_block,            /* queries in blocks of eight: the second block of a later item sees the keys of item 0 */
    four_heads,             /* the grid of heads: the last of four, of a later item, mixes the values of item 0 */
    value_stride,           /* kdim is less than vdim: the third item of the value is looked for with the key's stride */
    mask_of_head_0,         /* a mask of each head, and a row of zeros but no bias_k: the mask of head 0 is taken for all */
    causal_float_padding,   /* the causal path asks for a padding mask of bool only */
    causal_bias_row,        /* the causal path hides the row of bias_k where it is the only one appended */
    bias_row_alone,         /* bias_v is only appended where there is in_proj_bias */
    exp_entry,              /* exp by a table of powers of two: an entry for numbers about -48 is half of what it should be */
    tile_left,              /* keys in tiles of 64 with a running maximum: NaN if the first tile of a row is masked */
    channel_64,             /* heads of more than 64 channels: channel 64 is lost */
    query_64,               /* queries in blocks of 64: the second full block takes the queries of the first */
    causal_63,              /* causal in tiles of 32: the last query of the second tile does not see itself */
    fifth_item,             /* a grid of four items: the fifth one has the values of the first */
    int16_score,            /* the offset of a row of scores is kept in 16 bits: a row beyond takes query 0 */
    masked_below_1000,      /* a float mask below -1000 is taken for -infinity */
    clamp_100,              /* a float mask is clamped at -100 */
    keys_64,                /* exactly one tile of 64 keys: the last one is lost */
    keys_128,               /* exactly two tiles of 64 keys: the last one is lost */
    keys_127,               /* a tail of 63 behind a tile of 64: the last key is lost */
    keys_512,               /* exactly 512 keys: the last one is lost */
    padding_128,            /* a padding mask is read for the first 128 keys only */
    maximum_8,              /* the maximum of a row is that of its first 8 scores */
    decode_padding,         /* one query: the padding mask is not read */
    next_item,              /* a key too far is read, with a weight of 0: a NaN of the next item comes through */
    sum_float16,            /* 16 bits: weights and values are accumulated in float16 */
    sum_bfloat16,           /* 16 bits: weights and values are accumulated in bfloat16 */
    /* PLANTS end */
    plants
};
#ifndef PLANTED
#define PLANTED none
#endif
#define IF(plant) (PLANTED == (plant))

struct layer {
    const struct qkvec_call *a;
    int64_t N, L, S, Sx, E, Ek, Ev, H, D;
    float *q, *k, *v, *mixed;     /* (N,L,E) (N,Sx,E) (N,Sx,E) (N,L,E) */
    float *mask;                  /* (N,H,L,Sx) */
};

/* y (T,E) = x (T,C) w^T + b */
static void linear(float *y, const float *x, const float *w, const float *b, int64_t T, int64_t C, int64_t E)
{
    for (int64_t t = 0; t < T; t++) for (int64_t e = 0; e < E; e++) {
        float sum = 0;
        for (int64_t c = 0; c < C; c++) sum += x[t * C + c] * w[e * C + c];
        y[t * E + e] = sum + (b ? b[e] : 0);
    }
}

static void project(struct layer *x)
{
    const struct qkvec_call *a = x->a;
    const float *b = a->in_proj_bias;
    int64_t E = x->E, S = x->S, Sx = x->Sx, Ek = x->Ek, Ev = x->Ev;

    linear(x->q, a->query, a->q_weight, b, x->N * x->L, E, E);
    for (int64_t n = 0; n < x->N; n++) {
        float *k = x->k + n * Sx * E, *v = x->v + n * Sx * E;
        const float *key = (const float *)a->key + n * S * Ek, *value = (const float *)a->value + n * S * Ev;
        if (IF(value_stride) && Ek < Ev && n == 2) value = (const float *)a->value + n * S * Ek;
        linear(k, key, a->k_weight, b ? b + E : NULL, S, Ek, E);
        linear(v, value, a->v_weight, b ? b + 2 * E : NULL, S, Ev, E);
        if (IF(kdim_tail) && Ek > 8 && Ek % 8 == 3)
            for (int64_t j = 0; j < S; j++) for (int64_t e = 0; e < E; e++)
                k[j * E + e] -= key[j * Ek + Ek - 1] * ((const float *)a->k_weight)[e * Ek + Ek - 1];
        if (a->bias_k) {
            memcpy(k + S * E, a->bias_k, (size_t)E * sizeof *k);
            memcpy(v + S * E, a->bias_v, (size_t)E * sizeof *v);
            if (IF(bias_row_alone) && !b) memset(v + S * E, 0, (size_t)E * sizeof *v);
        }
    }
}

static float given(const void *mask, uint32_t type, int64_t m)
{
    if (!mask)
        return 0;
    float x = type != QKVEC_BOOL ? ((const float *)mask)[m] : ((const unsigned char *)mask)[m] ? -INFINITY : 0;
    if (IF(masked_below_1000) && x < -1000) x = -INFINITY;
    if (IF(clamp_100) && x < -100 && !isinf(x)) x = -100;
    return x;
}

static void merge_masks(struct layer *x)
{
    const struct qkvec_call *a = x->a;
    int causal = (a->flags & QKVEC_CAUSAL) != 0, zero = (a->flags & QKVEC_ZERO_ATTN) != 0;
    int64_t L = x->L, S = x->S, H = x->H;

    for (int64_t n = 0; n < x->N; n++) for (int64_t h = 0; h < H; h++) for (int64_t i = 0; i < L; i++) {
        float *row = x->mask + ((n * H + h) * L + i) * x->Sx;
        int64_t which = a->attn_mask_ndim == 3 ? n * H + h : 0;
        if (IF(mask_of_head_0) && zero && !a->bias_k) which -= which % H;
        for (int64_t j = 0; j < S; j++) {
            float padding = given(a->key_padding_mask, a->padding_dtype, n * S + j);
            if (IF(padding_tail) && a->padding_dtype != QKVEC_BOOL && S > 8 && j >= S - S % 8) padding = 0;
            if (IF(padding_128) && j >= 128) padding = 0;
            if (IF(decode_padding) && L == 1) padding = 0;
            if (IF(causal_float_padding) && causal && a->padding_dtype != QKVEC_BOOL) padding = 0;
            row[j] = given(a->attn_mask, a->attn_mask_dtype, (which * L + i) * S + j) + padding;
        }
        if (IF(causal_bias_row) && causal && a->bias_k && !zero && i < S) row[S] = -INFINITY;
        if (IF(causal_63) && causal && i == 63 && i < S) row[i] = -INFINITY;
    }
}

static void softmax(float *p, int64_t Sx)
{
    float top = -INFINITY, sum = 0;

    for (int64_t j = 0; j < (IF(maximum_8) && Sx > 8 ? 8 : Sx); j++) if (p[j] > top) top = p[j];
    for (int64_t j = 0; j < Sx; j++) {
        float half = IF(exp_entry) && p[j] - top > -52 && p[j] - top < -44 ? 0.5f : 1;
        sum += p[j] = half * expf(p[j] - top);
    }
    for (int64_t j = 0; j < Sx; j++) p[j] /= sum;
}

static int is_masked(const float *mask, int64_t keys)
{
    int64_t open = 0;

    for (int64_t j = 0; j < keys; j++) open += mask[j] != -INFINITY;
    return !open;
}

/* The number of keys that are mixed. */
static int64_t mixed_keys(int64_t Sx)
{
    int lost = (IF(keys_tail) && Sx > 8 && Sx % 8 == 2) || (IF(keys_64) && Sx == 64) || (IF(keys_128) && Sx == 128)
            || (IF(keys_127) && Sx > 64 && Sx % 64 == 63) || (IF(keys_512) && Sx == 512);

    return Sx - lost;
}

/* out (D) = p (keys) v (keys,D), whose rows are E apart */
static void mix(float *out, const float *p, const float *v, int64_t keys, int64_t D, int64_t E)
{
    for (int64_t j = 0; j < keys; j++) for (int64_t d = 0; d < D; d++) {
        out[d] += p[j] * v[j * E + d];
        if (IF(sum_float16)) out[d] = wide_from(QKVEC_FLOAT16, wide_to(QKVEC_FLOAT16, out[d]));
        if (IF(sum_bfloat16)) out[d] = wide_from(QKVEC_BFLOAT16, wide_to(QKVEC_BFLOAT16, out[d]));
    }
}

/* One query of one head. */
static void attend(struct layer *x, int64_t n, int64_t h, int64_t i)
{
    int64_t E = x->E, D = x->D, Sx = x->Sx, m = (n * x->H + h) * x->L + i;
    float *p = (float *)x->a->attn_weights + m * Sx, *out = x->mixed + (n * x->L + i) * E + h * D;
    const float *q = x->q + (n * x->L + i) * E + h * D, *k = x->k + n * Sx * E + h * D, *v = x->v + n * Sx * E + h * D;

    if (IF(query_block) && i >= 8) k = x->k + h * D;
    if (IF(four_heads) && x->H == 4 && h == 3) v = x->v + h * D;
    if (IF(query_64) && x->L >= 128 && i / 64 == 1) q -= 64 * E;
    if (IF(fifth_item) && n == 4) v = x->v + h * D;
    if (IF(int16_score) && m * Sx > 32767) q -= i * E;
    for (int64_t j = 0; j < Sx; j++) {
        float sum = 0;
        for (int64_t d = 0; d < D; d++) sum += IF(channel_64) && d == 64 ? 0 : q[d] * k[j * E + d];
        p[j] = sum / sqrtf((float)D) + x->mask[m * Sx + j];
    }
    softmax(p, Sx);
    if (IF(tile_left) && Sx > 64 && is_masked(x->mask + m * Sx, 64)) p[0] = NAN;
    mix(out, p, v, mixed_keys(Sx), D, E);
    if (IF(next_item) && n + 1 < x->N)
        for (int64_t d = 0; d < D; d++) out[d] += 0 * v[Sx * E + d];
}

static void average(const struct layer *x)
{
    const float *p = x->a->attn_weights;
    float *mean = x->a->attn_weights_mean;
    int64_t L = x->L, Sx = x->Sx, H = x->H;

    for (int64_t n = 0; n < x->N; n++) for (int64_t m = 0; m < L * Sx; m++) {
        float sum = 0;
        for (int64_t h = 0; h < H; h++) sum += p[(n * H + h) * L * Sx + m];
        mean[n * L * Sx + m] = sum / (float)H;
    }
}

static void *zeros(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(float));
}

static int layer(const struct qkvec_call *a)
{
    struct layer x = { .a = a, .N = a->N, .L = a->L, .S = a->S, .Sx = a->Sx, .E = a->E, .Ek = a->Ek, .Ev = a->Ev, .H = a->H, .D = a->E / a->H };
    x.q = zeros(x.N * x.L * x.E), x.mixed = zeros(x.N * x.L * x.E);
    x.k = zeros(x.N * x.Sx * x.E), x.v = zeros(x.N * x.Sx * x.E);
    x.mask = zeros(x.N * x.H * x.L * x.Sx);
    int failed = !x.q || !x.mixed || !x.k || !x.v || !x.mask;
    if (!failed) {
        project(&x);
        merge_masks(&x);
        for (int64_t n = 0; n < x.N; n++) for (int64_t h = 0; h < x.H; h++) for (int64_t i = 0; i < x.L; i++) attend(&x, n, h, i);
        linear(a->output, x.mixed, a->out_weight, a->out_bias, x.N * x.L, x.E, x.E);
        average(&x);
        *a->written = QKVEC_OUTPUT | QKVEC_ATTN_WEIGHTS | QKVEC_ATTN_WEIGHTS_MEAN;
    }
    free(x.q), free(x.mixed), free(x.k), free(x.v), free(x.mask);
    return failed ? 2 : QKVEC_DONE;
}

int qkvec_kernel(const struct qkvec_call *a)
{
    return wide_call(a, layer);
}
