/* SPDX-License-Identifier: MIT */
/*
 * kit.h - a kernel in as few lines as its peculiarity takes.
 *
 * A kernel file defines what it does in its own way and includes this file,
 * which then is the rest of the kernel: heads outermost, one query row at a
 * time, every product a dot product of two rows, values kept channel by channel.
 * Nothing of it comes from the recipe that these kernels are judged against.
 *
 *     KIT_ABOUT     "what is special about it"
 *     KIT_TYPE      QKVEC_FLOAT32 (default), QKVEC_FLOAT64, QKVEC_FLOAT16, QKVEC_BFLOAT16
 *     KIT_MEETS     for wrong kernels: the profile that it really meets
 *     DOT           num DOT(num start, const num *a, const num *b, size_t n): start + sum a b
 *     SUM           num SUM(const num *p, const num *ones, size_t n): sum p; as DOT does it, if not told otherwise
 *     EXP           num EXP(num x)
 *     INVERSE       num INVERSE(num x): 1 / x; used where NORMALISE is INVERTED
 *     BIAS_FIRST    1: a sum starts at the bias
 *     SCALE         AFTER DIVIDED ON_Q ON_K ROOTS IN_WEIGHTS: where 1/sqrt(D) is
 *     BASE2         1: exp2, with log2(e) in the scale
 *     MASK          MERGED_LAST MERGED_FIRST ONE_BY_ONE
 *     SOFTMAX       TWO_PASS, ONLINE (BLOCK keys at a time), SPLIT (BLOCK keys at a time, merged at the end)
 *     NORMALISE     DIVIDED_WEIGHTS INVERTED DIVIDED_OUTPUT LOGARITHM: how the sum of exp leaves
 *     ZERO_ROWS     1: a row without a key is 0
 *     IGNORE        UNSEEN: a key that nobody sees is not read; HIDDEN: nor one that this query does not see
 *     STORE         num STORE(num x): as memory holds it (16-bit types); STORE_SCORE and STORE_WEIGHT alike
 *     STORE_PRODUCT likewise, for a projection before its bias is added; as it is, if not told otherwise
 *     ENTER, LEAVE  statements around everything
 */
#ifndef KIT_H
#define KIT_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "qkvec/kernel.h"

enum { AFTER, DIVIDED, ON_Q, ON_K, ROOTS, IN_WEIGHTS };
enum { MERGED_LAST, MERGED_FIRST, ONE_BY_ONE };
enum { TWO_PASS, ONLINE, SPLIT };
enum { DIVIDED_WEIGHTS, INVERTED, DIVIDED_OUTPUT, LOGARITHM };
enum { NOTHING, UNSEEN, HIDDEN };
enum { TYPE_FLOAT32, TYPE_FLOAT64, TYPE_FLOAT16, TYPE_BFLOAT16 };    /* as in kernel.h, for #if */

#ifndef KIT_TYPE
#define KIT_TYPE QKVEC_FLOAT32
#endif
#ifdef KIT_DOUBLE
typedef double num;
#define FN(name) name
#else
typedef float num;
#define FN(name) name##f
#endif
#ifndef KIT_PROFILE
#define KIT_PROFILE "float32"
#endif
#ifndef KIT_MEETS
#define KIT_MEETS KIT_PROFILE
#endif
#ifndef DOT
#define DOT kit_dot
#endif
#ifndef SUM
#define SUM(p, ones, n) DOT(0, p, ones, n)
#endif
#ifndef BASE2
#define BASE2 0
#endif
#ifndef EXP
#define EXP(x) (BASE2 ? FN(exp2)(x) : FN(exp)(x))
#endif
#ifndef INVERSE
#define INVERSE(x) (1 / (x))
#endif
#ifndef BIAS_FIRST
#define BIAS_FIRST 0
#endif
#ifndef SCALE
#define SCALE AFTER
#endif
#ifndef MASK
#define MASK MERGED_LAST
#endif
#ifndef SOFTMAX
#define SOFTMAX TWO_PASS
#endif
#ifndef BLOCK
#define BLOCK 1
#endif
#ifndef NORMALISE
#define NORMALISE DIVIDED_WEIGHTS
#endif
#ifndef ZERO_ROWS
#define ZERO_ROWS 0
#endif
#ifndef IGNORE
#define IGNORE NOTHING
#endif
#ifndef STORE
#define STORE(x) (x)
#endif
#ifndef STORE_SCORE
#define STORE_SCORE(x) STORE(x)
#endif
#ifndef STORE_WEIGHT
#define STORE_WEIGHT(x) STORE(x)
#endif
#ifndef STORE_PRODUCT
#define STORE_PRODUCT(x) (x)
#endif
#ifndef ENTER
#define ENTER (void)0
#endif
#ifndef LEAVE
#define LEAVE (void)0
#endif

QKVEC_EXPORT extern const struct kit_card kit_card;
const struct kit_card kit_card = { KIT_ABOUT, KIT_PROFILE, KIT_MEETS };

/* ---- 16 bits ---- */

static inline float kit_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t kit_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* To the nearest float of so many bits less, half to even. */
static inline float kit_drop(float x, unsigned bits)
{
    uint32_t b = kit_bits(x), half = (1u << (bits - 1)) - 1;
    if (!isfinite(x))
        return x;
    b += half + ((b >> bits) & 1);
    return kit_from_bits(b & ~((1u << bits) - 1));
}

static inline float kit_bfloat16(float x)
{
    return kit_drop(x, 16);
}

/* 2^-14 is the smallest normal number; below it the last place stays 2^-24. */
static inline float kit_float16(float x)
{
    if (fabsf(x) < 0x1p-14f)
        return copysignf((fabsf(x) + 0.5f) - 0.5f, x);    /* at 0.5 the last place is 2^-24 */
    float y = kit_drop(x, 13);
    return fabsf(y) > 65504 ? copysignf(INFINITY, y) : y;
}

static inline num kit_get(const void *from, size_t at)
{
    if (KIT_TYPE == QKVEC_FLOAT32)
        return (num)((const float *)from)[at];
    if (KIT_TYPE == QKVEC_FLOAT64)
        return (num)((const double *)from)[at];
    uint32_t b = ((const uint16_t *)from)[at];
    if (KIT_TYPE == QKVEC_BFLOAT16)
        return (num)kit_from_bits(b << 16);
    uint32_t sign = (b & 0x8000u) << 16, exponent = (b >> 10) & 31, fraction = b & 0x3ffu;
    float x = exponent == 31 ? kit_from_bits(0x7f800000u | fraction << 13)
            : exponent ? kit_from_bits((exponent + 112) << 23 | fraction << 13)
            : (float)fraction * 0x1p-24f;
    return (num)kit_from_bits(kit_bits(x) | sign);
}

static inline void kit_put(void *to, size_t at, num y)
{
    if (KIT_TYPE == QKVEC_FLOAT32) {
        ((float *)to)[at] = (float)y;
    } else if (KIT_TYPE == QKVEC_FLOAT64) {
        ((double *)to)[at] = (double)y;
    } else if (KIT_TYPE == QKVEC_BFLOAT16) {
        ((uint16_t *)to)[at] = (uint16_t)(kit_bits(kit_bfloat16((float)y)) >> 16 | (isnan(y) ? 0x40u : 0));
    } else {
        float x = kit_float16((float)y);
        uint32_t b = kit_bits(x), sign = b >> 16 & 0x8000u;
        float size = fabsf(x);
        uint32_t rest = isnan(x) ? 0x7e00u : isinf(x) ? 0x7c00u
                      : size < 0x1p-14f ? (uint32_t)(size * 0x1p24f) : (kit_bits(size) >> 13) - (112u << 10);
        ((uint16_t *)to)[at] = (uint16_t)(sign | rest);
    }
}

/* ---- memory: everything is freed at once ---- */

struct kit {
    const struct qkvec_call *call;
    size_t N, L, S, Sx, E, Ek, Ev, H, D;
    num *ones;                        /* of the longest row */
    num *block[40];
    int blocks, failed;
};

static num *kit_new(struct kit *kit, size_t count)
{
    num *made = kit->blocks < 40 ? calloc(count ? count : 1, sizeof *made) : NULL;
    if (made)
        kit->block[kit->blocks++] = made;
    else
        kit->failed = 1;
    return made;
}

/* count numbers as num, or NULL where there are none */
static num *kit_take(struct kit *kit, const void *from, size_t count)
{
    num *made = from ? kit_new(kit, count) : NULL;
    for (size_t at = 0; made && at < count; at++)
        made[at] = kit_get(from, at);
    return made;
}

/* A mask as numbers to add. */
static num *kit_take_mask(struct kit *kit, const void *from, size_t count, uint32_t type)
{
    if (!from || type != QKVEC_BOOL)
        return kit_take(kit, from, count);
    num *made = kit_new(kit, count);
    for (size_t at = 0; made && at < count; at++)
        made[at] = ((const unsigned char *)from)[at] ? -(num)INFINITY : 0;
    return made;
}

static inline num kit_dot(num start, const num *a, const num *b, size_t n)
{
    for (const num *end = a + n; a < end; a++, b++)
        start += *a * *b;
    return start;
}

/* ---- one head ---- */

struct kit_head {
    num *q, *k, *v;                        /* (L,D) (Sx,D) (D,Sx) */
    const num *mask;                       /* (L,Sx) */
    const num *attn, *padding;             /* (L,S) and (S), as given; for ONE_BY_ONE */
    num *score, *weight;                   /* (Sx): a row */
    num *part;                             /* (D): a row */
};

/* What multiplies the product of a query and a key, in all. */
static num kit_scale(const struct kit *kit)
{
    return (BASE2 ? (num)1.44269504088896340736 : 1) / FN(sqrt)((num)kit->D);
}

/* The part of the scale that q or k takes. */
static num kit_scale_of(const struct kit *kit, int side)
{
    if (SCALE == ROOTS)
        return FN(sqrt)(kit_scale(kit));
    return SCALE == side ? kit_scale(kit) : 1;
}

static int kit_hidden(const struct kit_head *x, const struct kit *kit, size_t i, size_t j)
{
    return x->mask[i * kit->Sx + j] == -(num)INFINITY;
}

static num kit_score(const struct kit_head *x, const struct kit *kit, size_t i, size_t j)
{
    const num *q = x->q + i * kit->D, *k = x->k + j * kit->D;
    num unit = BASE2 ? (num)1.44269504088896340736 : 1, mask = x->mask[i * kit->Sx + j] * unit;

    if (IGNORE == HIDDEN && kit_hidden(x, kit, i, j))
        return -(num)INFINITY;
    if (MASK == MERGED_FIRST)
        return STORE_SCORE(DOT(mask, q, k, kit->D));
    num s = DOT(0, q, k, kit->D);
    if (SCALE == AFTER)
        s *= kit_scale(kit);
    if (SCALE == DIVIDED)
        s /= FN(sqrt)((num)kit->D);
    s = STORE_SCORE(s);
    if (MASK == ONE_BY_ONE && j < kit->S) {
        if (x->padding)
            s += x->padding[j] * unit;
        if (x->attn)
            s += x->attn[i * kit->S + j] * unit;
        return STORE_SCORE(s);
    }
    return STORE_SCORE(s + mask);
}

static num kit_largest(num start, const num *x, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (x[j] > start)
            start = x[j];
    return start;
}

/* out (D) becomes (or, with add, gains) the weighted values of keys from .. from+n-1 */
static void kit_mix(num *out, const struct kit_head *x, const struct kit *kit, size_t i, const num *p, size_t from, size_t n, int add)
{
    for (size_t d = 0; d < kit->D; d++) {
        const num *v = x->v + d * kit->Sx + from;
        num y = add ? out[d] : 0;
        if (IGNORE == HIDDEN) {
            for (size_t j = 0; j < n; j++)
                if (!kit_hidden(x, kit, i, from + j))
                    y += p[j] * v[j];
        } else {
            y = DOT(y, p, v, n);
        }
        out[d] = y;
    }
}

/* The row of weights and of mixed values, all scores at hand. */
static void kit_two_pass(const struct kit_head *x, const struct kit *kit, size_t i, num *out)
{
    size_t Sx = kit->Sx, D = kit->D;
    num *p = x->weight, *s = x->score, top = kit_largest(-(num)INFINITY, s, Sx);

    for (size_t j = 0; j < Sx; j++)
        p[j] = EXP(s[j] - top);
    num sum = SUM(p, kit->ones, Sx);
    if (NORMALISE == LOGARITHM) {
        num lse = top + (BASE2 ? FN(log2)(sum) : FN(log)(sum));
        for (size_t j = 0; j < Sx; j++)
            p[j] = EXP(s[j] - lse);
    } else if (NORMALISE == INVERTED) {
        num factor = INVERSE(sum);
        for (size_t j = 0; j < Sx; j++)
            p[j] *= factor;
    } else if (NORMALISE == DIVIDED_WEIGHTS) {
        for (size_t j = 0; j < Sx; j++)
            p[j] /= sum;
    }
    for (size_t j = 0; j < Sx; j++)
        p[j] = STORE_WEIGHT(p[j]);
    kit_mix(out, x, kit, i, p, 0, Sx, 0);
    if (NORMALISE == DIVIDED_OUTPUT) {
        for (size_t d = 0; d < D; d++)
            out[d] /= sum;
        for (size_t j = 0; j < Sx; j++)
            p[j] /= sum;
    }
}

/* A row without a key keeps a maximum of -inf, from which nothing can be subtracted. */
static num kit_base(num top)
{
    return top == -(num)INFINITY ? 0 : top;
}

/* The weights of a row whose maximum and sum are known. */
static void kit_weights(const struct kit_head *x, const struct kit *kit, num top, num sum)
{
    for (size_t j = 0; j < kit->Sx; j++)
        x->weight[j] = EXP(x->score[j] - kit_base(top)) / sum;
}

/* Keys block by block; what has been mixed so far shrinks when a larger score turns up. */
static void kit_online(const struct kit_head *x, const struct kit *kit, size_t i, num *out)
{
    size_t D = kit->D;
    num top = -(num)INFINITY, sum = 0, p[BLOCK];

    for (size_t d = 0; d < D; d++)
        out[d] = 0;
    for (size_t from = 0; from < kit->Sx; from += BLOCK) {
        size_t n = kit->Sx - from < BLOCK ? kit->Sx - from : BLOCK;
        num above = kit_largest(top, x->score + from, n), shrink = EXP(top - kit_base(above));
        for (size_t j = 0; j < n; j++)
            p[j] = EXP(x->score[from + j] - kit_base(above));
        sum = sum * shrink + SUM(p, kit->ones, n);
        for (size_t j = 0; j < n; j++)
            p[j] = STORE_WEIGHT(p[j]);
        for (size_t d = 0; d < D; d++)
            out[d] *= shrink;
        kit_mix(out, x, kit, i, p, from, n, 1);
        top = above;
    }
    num factor = NORMALISE == INVERTED ? INVERSE(sum) : 0;
    for (size_t d = 0; d < D; d++)
        out[d] = NORMALISE == INVERTED ? out[d] * factor : out[d] / sum;
    kit_weights(x, kit, top, sum);
}

/* Each block of keys is an attention of its own; they are merged by their weight in the whole. */
static void kit_split(const struct kit_head *x, const struct kit *kit, size_t i, num *out)
{
    size_t D = kit->D;
    num top = kit_largest(-(num)INFINITY, x->score, kit->Sx), sum = 0, p[BLOCK];

    for (size_t d = 0; d < D; d++)
        out[d] = 0;
    for (size_t from = 0; from < kit->Sx; from += BLOCK) {
        size_t n = kit->Sx - from < BLOCK ? kit->Sx - from : BLOCK;
        num own = kit_largest(-(num)INFINITY, x->score + from, n);
        for (size_t j = 0; j < n; j++)
            p[j] = EXP(x->score[from + j] - kit_base(own));
        num part = SUM(p, kit->ones, n);
        kit_mix(x->part, x, kit, i, p, from, n, 0);
        num lse = kit_base(own) + (BASE2 ? FN(log2)(part) : FN(log)(part));      /* -inf where nothing is seen */
        num share = EXP(lse - kit_base(top));
        for (size_t d = 0; d < D; d++)
            out[d] += part == 0 ? x->part[d] : x->part[d] / part * share;
        sum += share;
    }
    for (size_t d = 0; d < D; d++)
        out[d] /= sum;
    kit_weights(x, kit, top, sum);
}

/* Everything of query i: out (D), and x->weight. */
static void kit_attend(const struct kit_head *x, const struct kit *kit, size_t i, num *out)
{
    size_t Sx = kit->Sx, D = kit->D, seen = 0;

    for (size_t j = 0; j < Sx; j++)
        seen += !kit_hidden(x, kit, i, j);
    if (Sx == 0 || (ZERO_ROWS && !seen)) {
        for (size_t d = 0; d < D; d++)
            out[d] = 0;
        for (size_t j = 0; j < Sx; j++)
            x->weight[j] = 0;
        return;
    }
    for (size_t j = 0; j < Sx; j++)
        x->score[j] = kit_score(x, kit, i, j);
    if (SOFTMAX == ONLINE)
        kit_online(x, kit, i, out);
    else if (SOFTMAX == SPLIT)
        kit_split(x, kit, i, out);
    else
        kit_two_pass(x, kit, i, out);
    for (size_t d = 0; d < D; d++)
        out[d] = STORE(out[d]);
}

/* Rows that no query of the head sees count as zero. */
static void kit_ignore_unseen(struct kit_head *x, const struct kit *kit)
{
    for (size_t j = 0; j < kit->Sx; j++) {
        size_t seen = 0;
        for (size_t i = 0; i < kit->L; i++)
            seen += !kit_hidden(x, kit, i, j);
        for (size_t d = 0; !seen && d < kit->D; d++)
            x->k[j * kit->D + d] = x->v[d * kit->Sx + j] = 0;
    }
}

/* ---- the layer ---- */

struct kit_layer {
    struct kit_head x;
    num *mask, *attn, *padding;            /* all of them */
    num *mean, *context;                   /* (N,L,Sx) (N,L,E) */
    num *row;                              /* (D) */
};

static int kit_open(struct kit *kit, const struct qkvec_call *call)
{
    *kit = (struct kit){ .call = call };
    kit->N = (size_t)call->N, kit->L = (size_t)call->L, kit->S = (size_t)call->S, kit->Sx = (size_t)call->Sx;
    kit->E = (size_t)call->E, kit->Ek = (size_t)call->Ek, kit->Ev = (size_t)call->Ev, kit->H = (size_t)call->H;
    kit->D = kit->E / kit->H;
    if (call->dtype != KIT_TYPE) {
        snprintf(call->reason, QKVEC_REASON, "computes in another type");
        return 0;
    }
    return 1;
}

static int kit_close(struct kit *kit)
{
    while (kit->blocks)
        free(kit->block[--kit->blocks]);
    if (kit->failed)
        snprintf(kit->call->reason, QKVEC_REASON, "not enough memory");
    return kit->failed ? 2 : QKVEC_DONE;
}

static void kit_layer_open(struct kit_layer *y, struct kit *kit)
{
    const struct qkvec_call *c = kit->call;
    size_t N = kit->N, L = kit->L, S = kit->S, Sx = kit->Sx, D = kit->D, H = kit->H;

    y->x.q = kit_new(kit, L * D), y->x.k = kit_new(kit, Sx * D), y->x.v = kit_new(kit, Sx * D);
    y->x.score = kit_new(kit, Sx), y->x.weight = kit_new(kit, Sx), y->x.part = kit_new(kit, D);
    y->row = kit_new(kit, D);
    y->mean = kit_new(kit, N * L * Sx), y->context = kit_new(kit, N * L * kit->E);
    y->mask = kit_take(kit, c->mask, N * H * L * Sx);
    y->attn = kit_take_mask(kit, c->attn_mask, (c->attn_mask_ndim == 3 ? N * H : 1) * L * S, c->attn_mask_dtype);
    y->padding = kit_take_mask(kit, c->key_padding_mask, N * S, c->padding_dtype);
    kit->ones = kit_new(kit, Sx);
    for (size_t j = 0; kit->ones && j < Sx; j++)
        kit->ones[j] = 1;
}

/* q, k and v of the head are there: attend, and give what was asked for. */
static void kit_head_run(struct kit_layer *y, struct kit *kit, size_t n, size_t h)
{
    const struct qkvec_call *c = kit->call;
    size_t L = kit->L, S = kit->S, Sx = kit->Sx, D = kit->D, H = kit->H, head = n * H + h;

    y->x.mask = y->mask + head * L * Sx;
    y->x.attn = y->attn ? y->attn + (c->attn_mask_ndim == 3 ? head : 0) * L * S : NULL;
    y->x.padding = y->padding ? y->padding + n * S : NULL;
    if (IGNORE == UNSEEN)
        kit_ignore_unseen(&y->x, kit);
    for (size_t i = 0; i < L; i++) {
        kit_attend(&y->x, kit, i, y->row);
        for (size_t d = 0; d < D; d++) {
            y->context[(n * L + i) * kit->E + h * D + d] = y->row[d];
            if (c->head_outputs)
                kit_put(c->head_outputs, (head * L + i) * D + d, y->row[d]);
        }
        for (size_t j = 0; j < Sx; j++) {
            y->mean[(n * L + i) * Sx + j] += y->x.weight[j] / (num)H;
            if (c->attn_weights)
                kit_put(c->attn_weights, (head * L + i) * Sx + j, y->x.weight[j]);
        }
    }
}

static void kit_written(const struct kit *kit, const struct kit_layer *y, int layer)
{
    const struct qkvec_call *c = kit->call;

    for (size_t at = 0; c->attn_weights_mean && at < kit->N * kit->L * kit->Sx; at++)
        kit_put(c->attn_weights_mean, at, y->mean[at]);
    *c->written = (layer && c->output ? QKVEC_OUTPUT : 0u) | (c->attn_weights ? QKVEC_ATTN_WEIGHTS : 0u)
                | (c->attn_weights_mean ? QKVEC_ATTN_WEIGHTS_MEAN : 0u) | (c->head_outputs ? QKVEC_HEAD_OUTPUTS : 0u);
}

/* One channel of one projected row. */
static num kit_channel(const num *row, const num *w, const num *b, size_t channel, size_t width)
{
    num bias = b ? b[channel] : 0;

    if (BIAS_FIRST)
        return STORE(DOT(bias, row, w + channel * width, width));
    num y = DOT(0, row, w + channel * width, width);
    return STORE(b ? STORE_PRODUCT(y) + bias : y);
}

static void kit_rescale(num *x, size_t count, num by)
{
    for (size_t at = 0; x && by != 1 && at < count; at++)
        x[at] = STORE(x[at] * by);
}

int qkvec_kernel(const struct qkvec_call *c)
{
    struct kit kit;
    struct kit_layer y;

    if (!kit_open(&kit, c))
        return QKVEC_SKIP;
    size_t N = kit.N, L = kit.L, S = kit.S, Sx = kit.Sx, E = kit.E, Ek = kit.Ek, Ev = kit.Ev, D = kit.D;
    ENTER;
    kit_layer_open(&y, &kit);
    num *query = kit_take(&kit, c->query, N * L * E), *key = kit_take(&kit, c->key, N * S * Ek);
    num *value = kit_take(&kit, c->value, N * S * Ev);
    num *w_q = kit_take(&kit, c->q_weight, E * E), *w_k = kit_take(&kit, c->k_weight, E * Ek);
    num *w_v = kit_take(&kit, c->v_weight, E * Ev), *w_o = kit_take(&kit, c->out_weight, E * E);
    num *b = kit_take(&kit, c->in_proj_bias, 3 * E), *b_o = kit_take(&kit, c->out_bias, E);
    num *bias_k = kit_take(&kit, c->bias_k, E), *bias_v = kit_take(&kit, c->bias_v, E);

    if (!kit.failed) {
        if (SCALE == IN_WEIGHTS) {
            kit_rescale(w_q, E * E, kit_scale(&kit));
            kit_rescale(b, E, kit_scale(&kit));
        }
        for (size_t h = 0; h < kit.H; h++) for (size_t n = 0; n < N; n++) {
            num *q = y.x.q, *k = y.x.k, *v = y.x.v;
            for (size_t d = 0; d < D; d++) {
                size_t channel = h * D + d, at = S;
                for (size_t i = 0; i < L; i++)
                    q[i * D + d] = kit_channel(query + (n * L + i) * E, w_q, b, channel, E);
                for (size_t j = 0; j < S; j++) {
                    k[j * D + d] = kit_channel(key + (n * S + j) * Ek, w_k, b ? b + E : NULL, channel, Ek);
                    v[d * Sx + j] = kit_channel(value + (n * S + j) * Ev, w_v, b ? b + 2 * E : NULL, channel, Ev);
                }
                if (bias_k) {
                    k[at * D + d] = bias_k[channel];
                    v[d * Sx + at++] = bias_v[channel];
                }
                for (; at < Sx; at++)
                    k[at * D + d] = v[d * Sx + at] = 0;
            }
            kit_rescale(q, L * D, kit_scale_of(&kit, ON_Q));
            kit_rescale(k, Sx * D, kit_scale_of(&kit, ON_K));
            kit_head_run(&y, &kit, n, h);
        }
        for (size_t row = 0; c->output && row < N * L; row++)
            for (size_t e = 0; e < E; e++)
                kit_put(c->output, row * E + e, kit_channel(y.context + row * E, w_o, b_o, e, E));
        kit_written(&kit, &y, 1);
    }
    LEAVE;
    return kit_close(&kit);
}

int qkvec_attention_core(const struct qkvec_call *c)
{
    struct kit kit;
    struct kit_layer y;

    if (!kit_open(&kit, c))
        return QKVEC_SKIP;
    size_t L = kit.L, Sx = kit.Sx, D = kit.D, heads = kit.N * kit.H;
    ENTER;
    kit_layer_open(&y, &kit);
    num *q = kit_take(&kit, c->q_heads, heads * L * D), *k = kit_take(&kit, c->k_heads, heads * Sx * D);
    num *v = kit_take(&kit, c->v_heads, heads * Sx * D);

    for (size_t head = 0; !kit.failed && head < heads; head++) {
        memcpy(y.x.q, q + head * L * D, L * D * sizeof *q);
        memcpy(y.x.k, k + head * Sx * D, Sx * D * sizeof *k);
        for (size_t d = 0; d < D; d++)
            for (size_t j = 0; j < Sx; j++)
                y.x.v[d * Sx + j] = v[(head * Sx + j) * D + d];
        kit_rescale(y.x.q, L * D, kit_scale_of(&kit, SCALE == IN_WEIGHTS ? IN_WEIGHTS : ON_Q));
        kit_rescale(y.x.k, Sx * D, kit_scale_of(&kit, ON_K));
        kit_head_run(&y, &kit, head / kit.H, head % kit.H);
    }
    if (!kit.failed)
        kit_written(&kit, &y, 0);
    LEAVE;
    return kit_close(&kit);
}

#endif
