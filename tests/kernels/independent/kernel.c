/* SPDX-License-Identifier: MIT */
/*
 * A float32 kernel built the other way round: tokens are outermost in memory
 * (T,N,E), scores have the heads innermost (N,L,Sx,H), products are taken from
 * the last term to the first with two accumulators, weights are used where they
 * lie. A mistake is an if where somebody would make it.
 *
 * As a shared library it makes the mistake whose name QKVEC_MISTAKE holds.
 *
 * Letters: n batch item, h head, i query row, j key row, t row of either kind,
 * e channel, d channel of a head.
 */
#include "kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mistakes.h"

#define ENUM(name, fault) M_##name,
#define ENTRY(name, fault) { #name, fault },
enum { MISTAKES(ENUM) MISTAKE_COUNT };
const struct independent_mistake independent_mistakes[] = { MISTAKES(ENTRY) };
const size_t independent_count = MISTAKE_COUNT;

struct work {
    const struct qkvec_call *c;
    size_t m;                                   /* the mistake */
    size_t N, L, S, Sx, E, Ek, Ev, H, D;
    float *q, *k, *v;                           /* (L,N,E) (Sx,N,E) (Sx,N,E) */
    float *s, *w;                               /* (N,L,Sx,H): scores, weights */
    float *mixed;                               /* (L,N,E) */
};

static float dot(const float *a, size_t a_step, const float *b, size_t b_step, size_t n)
{
    float even = 0, odd = 0;

    while (n >= 2) {
        odd += a[(n - 1) * a_step] * b[(n - 1) * b_step];
        even += a[(n - 2) * a_step] * b[(n - 2) * b_step];
        n -= 2;
    }
    return n ? even + odd + a[0] * b[0] : even + odd;
}

static size_t at_least(size_t x, size_t multiple)
{
    return (x + multiple - 1) / multiple * multiple;
}

/* ---- projections ---- */

/* One of q, k and v: side 0, 1 or 2. */
struct linear {
    const float *x, *w, *b;
    size_t T, width;
    size_t out_step, in_step;       /* in the weight, from one output (input) to the next */
    size_t size;                    /* of the weight: nobody reads past it */
};

/* The row of the packed weight or bias that makes channel e of a side. */
static size_t row_of(const struct work *x, int side, size_t e, int bias)
{
    static const int orders[][3] = { { 1, 0, 2 }, { 0, 2, 1 }, { 2, 1, 0 }, { 2, 0, 1 }, { 1, 2, 0 } };
    size_t block = (size_t)side, m = x->m;

    if (m >= M_order_kqv && m <= M_order_vqk)
        block = (size_t)orders[m - M_order_kqv][side];
    if (bias && m == M_b_order_kqv)
        block = (size_t)orders[0][side];
    if (bias && m == M_b_order_qvk)
        block = (size_t)orders[1][side];
    if (bias && m == M_b_q_only)
        block = 0;
    if ((m == M_order_kqv_weights_only && !bias && side < 2))
        block = (size_t)(1 - side);
    if (m == M_k_from_v_block && side == 1)
        block = 2;
    if (m == M_one_block_for_all)
        block = 0;
    if (m == M_w_interleave_head || (bias && m == M_b_interleave_head) || (!bias && m == M_w_interleave_head_only))
        return e / x->D * 3 * x->D + (size_t)side * x->D + e % x->D;
    if (m == M_w_interleave_row)
        return e * 3 + (size_t)side;
    return block * x->E + e;
}

static float channel(const struct work *x, const struct linear *y, int side, const float *row, size_t e)
{
    const struct qkvec_call *c = x->c;
    const float *b = c->in_proj_bias;
    size_t m = x->m;
    float sum = 0;

    if (c->in_proj_weight) {
        if (m == M_w_untransposed || m == M_in_untransposed)
            sum = dot(row, 1, y->w + e, x->E, y->width);
        else if (m == M_w_packed_in_out)
            sum = dot(row, 1, (const float *)c->in_proj_weight + (size_t)side * x->E + e, 3 * x->E, y->width);
        else
            sum = dot(row, 1, (const float *)c->in_proj_weight + row_of(x, side, e, 0) * x->E, 1, y->width);
    } else {
        size_t out_step = y->out_step, in_step = 1, first;
        if (m == M_w_untransposed || m == M_in_untransposed)
            out_step = 1, in_step = x->E;
        if ((m == M_kdim_stride && side == 1) || (m == M_vdim_stride && side == 2))
            out_step = x->E;
        first = e * out_step;
        for (size_t in = y->width; in-- > 0;)
            sum += row[in] * y->w[(first + in * in_step) % y->size];
    }
    if (!b || m == M_b_ignored || (m == M_b_q_ignored && side == 0) || (m == M_b_k_ignored && side == 1) || (m == M_b_v_ignored && side == 2))
        return sum;
    float bias = b[row_of(x, side, e, 1)];    /* packed in any case: mixed up even where the weights are separate */
    return m == M_b_twice ? sum + bias + bias : sum + bias;
}

static void project(const struct work *x, float *to, const struct linear *y, int side)
{
    for (size_t t = 0; t < y->T; t++) for (size_t n = 0; n < x->N; n++) {
        const float *row = y->x + (n * y->T + t) * y->width;
        if (x->m == M_batch_first_inverted)
            row = y->x + (t * x->N + n) * y->width;
        if (x->m == M_kv_batch_0 && side > 0)
            row = y->x + t * y->width;
        for (size_t e = 0; e < x->E; e++)
            to[(t * x->N + n) * x->E + e] = x->m == M_no_in_proj ? y->x[((n * y->T + t) * x->E + e) % (x->N * y->T * y->width)]
                                          : channel(x, y, side, row, e);
    }
}

static void project_all(struct work *x)
{
    const struct qkvec_call *c = x->c;
    struct linear q = { c->query, c->q_weight, NULL, x->L, x->E, x->E, 1, x->E * x->E };
    struct linear k = { c->key, c->k_weight, NULL, x->S, x->Ek, x->Ek, 1, x->E * x->Ek };
    struct linear v = { c->value, c->v_weight, NULL, x->S, x->Ev, x->Ev, 1, x->E * x->Ev };

    if (x->Ek == x->Ev && (x->m == M_v_from_key || x->m == M_kv_swapped))
        v.x = c->key;
    if (x->Ek == x->Ev && (x->m == M_k_from_value || x->m == M_kv_swapped))
        k.x = c->value;
    if (x->Ek == x->Ev && !c->in_proj_weight && x->m == M_separate_kv_swapped)
        k.w = c->v_weight, v.w = c->k_weight;
    if (x->Ek == x->E && x->Ev == x->E && x->L == x->S && x->m == M_kv_from_query)
        k.x = v.x = q.x;
    project(x, x->q, &q, 0);
    project(x, x->k, &k, 1);
    project(x, x->v, &v, 2);
}

/* Learned and zero rows behind the others. */
static void append(struct work *x)
{
    const struct qkvec_call *c = x->c;
    const float *bias_k = c->bias_k, *bias_v = c->bias_v;
    size_t N = x->N, E = x->E, at = x->S, m = x->m;
    int zero = (c->flags & QKVEC_ZERO_ATTN) != 0;

    if (m == M_biaskv_swapped)
        bias_k = c->bias_v, bias_v = c->bias_k;
    if (bias_k && m == M_biaskv_added) {
        for (size_t t = 0; t < x->S * N; t++) for (size_t e = 0; e < E; e++)
            x->k[t * E + e] += bias_k[e], x->v[t * E + e] += bias_v[e];
    }
    if (m == M_zero_before_bias && zero)
        at++;
    if (bias_k) {
        for (size_t n = 0; n < N; n++) for (size_t e = 0; e < E; e++) {
            float *k = x->k + (at * N + n) * E + e, *v = x->v + (at * N + n) * E + e;
            *k = bias_k[e], *v = bias_v[e];
            if (m == M_biaskv_projected && x->Ek == E && x->Ev == E) {
                *k = dot(bias_k, 1, (const float *)c->k_weight + e * E, 1, E) + (c->in_proj_bias ? ((const float *)c->in_proj_bias)[E + e] : 0);
                *v = dot(bias_v, 1, (const float *)c->v_weight + e * E, 1, E) + (c->in_proj_bias ? ((const float *)c->in_proj_bias)[2 * E + e] : 0);
            }
        }
    }
    if (bias_k && m == M_biaskv_prepend) {       /* in front of the real ones; masks move along */
        size_t rows = x->S * N * E, one = N * E;
        for (int side = 0; side < 2; side++) {
            float *y = side ? x->v : x->k;
            for (size_t e = 0; e < one; e++) {
                float first = y[rows + e];
                for (size_t t = x->S; t > 0; t--)
                    y[t * one + e] = y[(t - 1) * one + e];
                y[e] = first;
            }
        }
    }
}

/* ---- heads ---- */

/* Channel d of head h of row t out of T, in a (T,N,E) array. side as above. */
static const float *part(const struct work *x, const float *from, size_t T, size_t n, size_t t, size_t h, size_t d, int side)
{
    size_t row = t, e = h * x->D + d, m = x->m;

    if (m == M_split_no_transpose && t < T) {
        size_t flat = (h * T + t) * x->D + d;
        row = flat / x->E, e = flat % x->E;
    }
    if (m == M_split_interleaved && t < T)
        e = d * x->H + h;
    if (m == M_split_head_rev && t < T)
        e = (x->H - 1 - h) * x->D + d;
    if ((m == M_all_heads_head0 && t < T) || (m == M_q_head0 && side == 0) || (m == M_k_head0 && side == 1) || (m == M_v_head0 && side == 2))
        e = d;
    return from + (row * x->N + n) * x->E + e;
}

/* ---- masks ---- */

enum kind { NO_MASK, HIDES, ADDS };

/* What one mask says to key j of query i: a kind, and what it adds. */
static enum kind attn_mask(const struct work *x, size_t n, size_t h, size_t i, size_t j, float *adds)
{
    const struct qkvec_call *c = x->c;
    size_t L = x->L, S = x->S, H = x->H, m = x->m, which = c->attn_mask_ndim == 3 ? n * H + h : 0, at;

    *adds = 0;
    if (j >= S || !c->attn_mask)
        return NO_MASK;
    if (c->attn_mask_ndim == 3)
        which = m == M_mask3d_head_major ? h * x->N + n : m == M_mask3d_batch_only ? n : m == M_mask3d_head_0 ? n * H
              : m == M_mask3d_head_only ? h : m == M_mask3d_first ? 0 : which;
    at = which * L * S + (m == M_attn_transposed ? j * L + i : i * S + j);
    if (c->attn_mask_dtype == QKVEC_BOOL) {
        int hidden = ((const unsigned char *)c->attn_mask)[at];
        if (m == M_attn_bool_inverted)
            hidden = !hidden;
        if (m == M_attn_bool_added_1 || m == M_bool_added_minus_1) {
            *adds = hidden ? (m == M_attn_bool_added_1 ? 1 : -1) : 0;
            return ADDS;
        }
        return hidden ? HIDES : NO_MASK;
    }
    float y = ((const float *)c->attn_mask)[at];
    if (m == M_attn_float_as_bool)
        return y != 0 ? HIDES : NO_MASK;
    *adds = m == M_attn_float_sign ? -y : y;
    return ADDS;
}

static enum kind padding_mask(const struct work *x, size_t n, size_t i, size_t j, float *adds)
{
    const struct qkvec_call *c = x->c;
    size_t m = x->m, at = (m == M_kpm_batch_0 ? 0 : n) * x->S + (m == M_kpm_rows ? i : j);

    *adds = 0;
    if (j >= x->S || !c->key_padding_mask || (m == M_kpm_rows && i >= x->S))
        return NO_MASK;
    if (c->padding_dtype == QKVEC_BOOL) {
        int hidden = ((const unsigned char *)c->key_padding_mask)[at];
        if (m == M_kpm_bool_inverted)
            hidden = !hidden;
        if (m == M_kpm_bool_added_1 || m == M_bool_added_minus_1) {
            *adds = hidden ? (m == M_kpm_bool_added_1 ? 1 : -1) : 0;
            return ADDS;
        }
        return hidden ? HIDES : NO_MASK;
    }
    float y = ((const float *)c->key_padding_mask)[at];
    if (m == M_kpm_float_as_bool)
        return y != 0 ? HIDES : NO_MASK;
    *adds = m == M_kpm_float_sign ? -y : m == M_kpm_twice ? y + y : y;
    return ADDS;
}

/* Own ideas of a causal mask, in place of the one that was given. */
static int causal(const struct work *x, size_t i, size_t j, enum kind *kind)
{
    size_t m = x->m;

    if (m == M_causal_always) {
        if (j > i)
            *kind = HIDES;
        return 0;
    }
    if (!(x->c->flags & QKVEC_CAUSAL) || m < M_causal_bottom_right || m > M_causal_reversed)
        return 0;
    int hides = m == M_causal_bottom_right ? j + x->L > i + x->S : m == M_causal_strict ? j >= i : m == M_causal_plus_1 ? j > i + 1 : j < i;
    *kind = hides && j < x->S ? HIDES : NO_MASK;
    return 1;
}

/* A score after the masks; closed tells whether a mask hides the key. */
static float masked(const struct work *x, float s, size_t n, size_t h, size_t i, size_t j, int *closed)
{
    float adds, pads;
    size_t m = x->m, real = j;
    int moved = m == M_biaskv_prepend && x->c->bias_k && j <= x->S;

    if (moved)
        real = j ? j - 1 : x->Sx;      /* the learned row stands first and is open */
    enum kind attn = attn_mask(x, n, h, i, real, &adds), padding = padding_mask(x, n, i, real, &pads);
    if (causal(x, i, real, &attn))
        adds = 0;
    if (m == M_attn_ignored)
        attn = NO_MASK, adds = 0;
    if (m == M_kpm_ignored)
        padding = NO_MASK, pads = 0;
    if (m == M_attn_overrides_kpm && x->c->attn_mask)
        padding = NO_MASK, pads = 0;
    if (m == M_kpm_overrides_attn && x->c->key_padding_mask)
        attn = NO_MASK, adds = 0;
    if (m == M_extra_masked && j >= x->S && (x->c->attn_mask || x->c->key_padding_mask))
        attn = HIDES;
    if (m == M_zero_ignored && (x->c->flags & QKVEC_ZERO_ATTN) && j == x->Sx - 1)
        attn = HIDES;
    if (m == M_biaskv_ignored && x->c->bias_k && j == x->S)
        attn = HIDES;
    if (m == M_biaskv_added && x->c->bias_k && j == x->S)
        attn = HIDES;
    *closed = attn == HIDES || padding == HIDES || adds + pads == -INFINITY;
    if (*closed && m == M_mask_after_softmax)
        return s;
    s += adds + pads;
    if (!*closed)
        return s;
    switch (m) {
    case M_mask_zero_score: return 0;
    case M_fill_1em9: return -1e-9f;
    case M_fill_100: return -100;
    case M_fill_1e4: return -1e4f;
    case M_fill_1e9: return -1e9f;
    default: return s - INFINITY;    /* a NaN stays one */
    }
}

/* ---- scores ---- */

static float scale(const struct work *x)
{
    size_t D = x->D;

    switch (x->m) {
    case M_scale_none: case M_scale_after_softmax: return 1;
    case M_scale_mul: return sqrtf((float)D);
    case M_scale_d: return 1 / (float)D;
    case M_scale_E: return 1 / sqrtf((float)x->E);
    case M_scale_heads: return 1 / sqrtf((float)x->H);
    case M_scale_half: return 0.5f;
    case M_scale_8: return 0.125f;
    case M_scale_padded4: return 1 / sqrtf((float)at_least(D, 4));
    case M_scale_padded8: return 1 / sqrtf((float)at_least(D, 8));
    case M_odd_temperature: return 1 / (1.1f * sqrtf((float)D));
    case M_odd_scale_log_s: return logf((float)x->Sx) / sqrtf((float)D);
    default: return 1 / sqrtf((float)D);
    }
}

static float length(const float *a, size_t n)
{
    return sqrtf(dot(a, 1, a, 1, n)) + 1e-6f;
}

static void rotate(float *a, size_t D, size_t t)
{
    for (size_t d = 0; d + 1 < D; d += 2) {
        float angle = (float)t * powf(10000, -(float)d / (float)D), x = a[d], y = a[d + 1];
        a[d] = x * cosf(angle) - y * sinf(angle);
        a[d + 1] = x * sinf(angle) + y * cosf(angle);
    }
}

static void normalise(float *a, size_t D)
{
    float mean = 0, square = 0;
    for (size_t d = 0; d < D; d++)
        mean += a[d] / (float)D;
    for (size_t d = 0; d < D; d++)
        square += (a[d] - mean) * (a[d] - mean) / (float)D;
    for (size_t d = 0; d < D; d++)
        a[d] = (a[d] - mean) / sqrtf(square + 1e-5f);
}

static void score_all(struct work *x, float *q, float *k)
{
    size_t D = x->D, m = x->m;

    for (size_t n = 0; n < x->N; n++) for (size_t i = 0; i < x->L; i++) for (size_t j = 0; j < x->Sx; j++) for (size_t h = 0; h < x->H; h++) {
        for (size_t d = 0; d < D; d++) {
            q[d] = *part(x, x->q, x->L, n, i, h, d, 0);
            k[d] = *part(x, x->k, x->S, n, j, h, d, 1);
        }
        if (m == M_odd_rope)
            rotate(q, D, i), rotate(k, D, j);
        if (m == M_odd_layernorm_q)
            normalise(q, D);
        float s = dot(q, 1, k, 1, D);
        if (m == M_odd_cosine)
            s *= 10 / (length(q, D) * length(k, D));
        if (m != M_scale_over_mask)
            s *= scale(x);
        if (m == M_score_alibi)
            s -= fabsf((float)i - (float)j) * powf(2, -8 * (float)(h + 1) / (float)x->H);
        if (m == M_score_softcap)
            s = 30 * tanhf(s / 30);
        if (m == M_odd_rounded_scores)
            s = rintf(s * 100) / 100;
        int closed;
        s = masked(x, s, n, h, i, j, &closed);
        if (m == M_scale_over_mask)
            s *= scale(x);
        if (m == M_odd_window && fabsf((float)i - (float)j) > 2)
            s = -INFINITY;
        x->s[((n * x->L + i) * x->Sx + j) * x->H + h] = s;
    }
}

/* ---- softmax ---- */

static float power(const struct work *x, float s)
{
    if (x->m == M_softmax_base2)
        return exp2f(s);
    if (x->m == M_odd_taylor_exp) {
        float part8 = s / 8, y = 1 + part8 * (1 + part8 / 2 * (1 + part8 / 3));
        return s < -20 ? 0 : powf(y, 8);
    }
    return expf(s);
}

/* count numbers, step apart */
static void softmax(const struct work *x, float *w, const float *s, size_t count, size_t step)
{
    size_t m = x->m;
    float top = m == M_softmax_max_0 ? 0 : m == M_softmax_sentinel ? -5e4f : -INFINITY, sum = 0;

    for (size_t at = 0; at < count; at++)
        top = s[at * step] > top ? s[at * step] : top;
    if (m == M_softmax_no_max)
        top = 0;
    for (size_t at = count; at-- > 0;) {
        float y = s[at * step];
        w[at * step] = m == M_sigmoid ? 1 / (1 + expf(-y)) : power(x, y - top);
        sum += w[at * step];
    }
    if (m == M_softmax_plus_1)
        sum += 1;
    if (m == M_softmax_sink)
        sum += expf(-top);
    if (m == M_odd_sink)
        sum += expf(2 - top);
    if (m == M_softmax_pad_4)
        sum += (float)(at_least(count, 4) - count) * expf(-top);
    for (size_t at = 0; m != M_sigmoid && m != M_softmax_unnormalised && at < count; at++)
        w[at * step] /= sum;
}

static void softmax_all(struct work *x)
{
    size_t N = x->N, L = x->L, Sx = x->Sx, H = x->H, m = x->m;

    for (size_t n = 0; n < N; n++) {
        float *w = x->w + n * L * Sx * H, *s = x->s + n * L * Sx * H;
        if (m == M_softmax_q) {
            for (size_t at = 0; at < Sx * H; at++)
                softmax(x, w + at, s + at, L, Sx * H);
        } else if (m == M_softmax_heads) {
            for (size_t at = 0; at < L * Sx; at++)
                softmax(x, w + at * H, s + at * H, H, 1);
        } else if (m == M_softmax_joint) {
            for (size_t i = 0; i < L; i++)
                softmax(x, w + i * Sx * H, s + i * Sx * H, Sx * H, 1);
        } else {
            for (size_t i = 0; i < L; i++) for (size_t h = 0; h < H; h++)
                softmax(x, w + i * Sx * H + h, s + i * Sx * H + h, Sx, H);
        }
    }
}

/* What happens to weights that are done. */
static void after_softmax(struct work *x)
{
    size_t Sx = x->Sx, H = x->H, m = x->m;

    for (size_t n = 0; n < x->N; n++) for (size_t i = 0; i < x->L; i++) for (size_t h = 0; h < H; h++) {
        float *w = x->w + (n * x->L + i) * Sx * H + h, sum = 0;
        for (size_t j = 0; j < Sx; j++) {
            float *y = w + j * H;
            int closed;
            masked(x, 0, n, h, i, j, &closed);
            if (m == M_mask_after_softmax && closed)
                *y = 0;
            if (m == M_scale_after_softmax)
                *y /= sqrtf((float)x->D);
            if (m == M_odd_squared_weights)
                *y *= *y;
            if (m == M_odd_dropout)
                *y = (n * 7 + i * 5 + j * 3 + h) % 10 == 0 ? 0 : *y / 0.9f;
            if (m == M_odd_top3) {
                size_t above = 0;
                for (size_t other = 0; other < Sx; other++)
                    above += x->s[(n * x->L + i) * Sx * H + other * H + h] > x->s[(n * x->L + i) * Sx * H + j * H + h];
                *y = above < 3 ? *y : 0;
            }
            sum += *y;
        }
        for (size_t j = 0; (m == M_odd_squared_weights || m == M_odd_top3) && j < Sx; j++)
            w[j * H] /= sum;
    }
    if (m == M_odd_talking_heads)
        for (size_t at = 0; at < x->N * x->L * Sx; at++) for (size_t h = 0; h + 1 < H; h++)
            x->w[at * H + h] = 0.9f * x->w[at * H + h] + 0.1f * x->w[at * H + h + 1];
}

/* ---- values, and out ---- */

static float value(const struct work *x, size_t n, size_t i, size_t j, size_t h, size_t d)
{
    size_t m = x->m;

    if (m == M_odd_next_value_last_row && i + 1 == x->L && j + 1 < x->Sx)
        j++;
    float v = *part(x, x->v, x->S, n, j, h, d, 2);
    if (m == M_odd_gelu_values)
        return v * 0.5f * (1 + erff(v * 0.70710678f));
    if (m == M_odd_int8_values)
        return rintf(v * 16) / 16;
    return v;
}

static void mix(struct work *x, float *p, float *v)
{
    size_t L = x->L, Sx = x->Sx, D = x->D, H = x->H, N = x->N, E = x->E, m = x->m;

    for (size_t n = 0; n < N; n++) for (size_t h = 0; h < H; h++) for (size_t i = 0; i < L; i++) for (size_t d = 0; d < D; d++) {
        for (size_t j = 0; j < Sx; j++) {
            p[j] = x->w[((n * L + i) * Sx + j) * H + h];
            if (m == M_pv_transposed)
                p[j] = x->w[((n * L + (j * L + i) / Sx) * Sx + (j * L + i) % Sx) * H + h];
            v[j] = value(x, n, i, j, h, d);
        }
        float y = dot(p, 1, v, 1, Sx);
        size_t row = i, item = n, e = h * D + d;
        if (m == M_odd_normalised_values)
            y /= 1.0009765625f;
        if (m == M_odd_rotated_channel && h + 1 == H)
            e = h * D + (d + 1) % D;
        if (m == M_merge_no_transpose)
            row = ((h * L + i) * D + d) / E, e = ((h * L + i) * D + d) % E;
        if (m == M_merge_interleaved)
            e = d * H + h;
        if (m == M_merge_head_rev)
            e = (H - 1 - h) * D + d;
        if (m == M_merge_seq_batch)          /* token (i,n) of (L,N,E) is token i*N+n of (N,L,E) */
            item = (i * N + n) / L, row = (i * N + n) % L;
        if (m == M_merge_rows_first)
            row = ((h * D + d) * L + i) / E, e = ((h * D + d) * L + i) % E;
        x->mixed[(row * N + item) * E + e] = y;
        if (x->c->head_outputs)
            ((float *)x->c->head_outputs)[((n * H + h) * L + i) * D + d] = y;
    }
}

static void out(const struct work *x)
{
    const struct qkvec_call *c = x->c;
    const float *w = c->out_weight, *b = c->out_bias;
    float *to = c->output;
    size_t E = x->E, m = x->m;

    for (size_t i = 0; i < x->L; i++) for (size_t n = 0; n < x->N; n++) for (size_t e = 0; e < E; e++) {
        const float *row = x->mixed + (i * x->N + n) * E;
        float y = m == M_out_skipped ? row[e]
                : m == M_out_untransposed || m == M_w_untransposed ? dot(row, 1, w + e, E, E) : dot(row, 1, w + e * E, 1, E);
        if (b && m != M_out_bias_ignored && m != M_out_skipped)
            y += m == M_b_twice ? b[e] + b[e] : b[e];
        if (m == M_residual_added)
            y += ((const float *)c->query)[(n * x->L + i) * E + e];
        if (m == M_odd_relu_output && y < 0)
            y = 0;
        to[(n * x->L + i) * E + e] = y;
    }
}

static void give_weights(const struct work *x)
{
    const struct qkvec_call *c = x->c;
    float *each = c->attn_weights, *mean = c->attn_weights_mean;
    size_t N = x->N, L = x->L, Sx = x->Sx, H = x->H, m = x->m;

    for (size_t n = 0; n < N; n++) for (size_t i = 0; i < L; i++) for (size_t j = 0; j < Sx; j++) {
        float sum = 0, top = 0;
        size_t to = m == M_weights_transposed ? n * L * Sx + j * L + i : (n * L + i) * Sx + j;
        for (size_t h = 0; h < H; h++) {
            size_t at = ((n * L + i) * Sx + j) * H + h;
            float y = m == M_weights_logits ? x->s[at] : x->w[at];
            sum += y;
            top = x->w[at] > top ? x->w[at] : top;
            if (m == M_weights_heads_first)
                each[((h * N + n) * L + i) * Sx + j] = y;
            else if (m == M_weights_transposed)
                each[(n * H + h) * L * Sx + j * L + i] = y;
            else
                each[((n * H + h) * L + i) * Sx + j] = y;
        }
        mean[to] = m == M_mean_is_sum ? sum : m == M_mean_is_max ? top
                 : m == M_mean_is_head_0 ? x->w[((n * L + i) * Sx + j) * H] : sum / (float)H;
    }
}

int independent_kernel(const struct qkvec_call *c, size_t mistake)
{
    struct work x = {
        .c = c, .m = mistake, .N = (size_t)c->N, .L = (size_t)c->L, .S = (size_t)c->S, .Sx = (size_t)c->Sx,
        .E = (size_t)c->E, .Ek = (size_t)c->Ek, .Ev = (size_t)c->Ev, .H = (size_t)c->H, .D = (size_t)(c->E / c->H),
    };
    if (c->dtype != QKVEC_FLOAT32 || !c->query) {
        snprintf(c->reason, QKVEC_REASON, "the whole layer in float32 only");
        return QKVEC_SKIP;
    }
    size_t tokens = x.N * x.E, scores = x.N * x.L * x.Sx * x.H;
    float *room = calloc(2 * x.L * tokens + 2 * x.Sx * tokens + 2 * scores + 2 * x.D + 2 * x.Sx + 1, sizeof *room), *next = room;
    if (!room) {
        snprintf(c->reason, QKVEC_REASON, "not enough memory");
        return 2;
    }
    x.q = next, next += x.L * tokens;
    x.k = next, next += x.Sx * tokens;
    x.v = next, next += x.Sx * tokens;
    x.mixed = next, next += x.L * tokens;
    x.s = next, next += scores;
    x.w = next, next += scores;

    project_all(&x);
    append(&x);
    score_all(&x, next, next + x.D);
    softmax_all(&x);
    after_softmax(&x);
    mix(&x, next + 2 * x.D, next + 2 * x.D + x.Sx);
    out(&x);
    give_weights(&x);
    free(room);
    *c->written = QKVEC_OUTPUT | QKVEC_ATTN_WEIGHTS | QKVEC_ATTN_WEIGHTS_MEAN | QKVEC_HEAD_OUTPUTS;
    return QKVEC_DONE;
}

#ifdef INDEPENDENT_LIBRARY
int qkvec_kernel(const struct qkvec_call *c)
{
    const char *name = getenv("QKVEC_MISTAKE");
    size_t m = 0;

    while (name && m < independent_count && strcmp(independent_mistakes[m].name, name) != 0)
        m++;
    if (m == independent_count) {
        snprintf(c->reason, QKVEC_REASON, "QKVEC_MISTAKE names no mistake");
        return 2;
    }
    return independent_kernel(c, m);
}
#endif
