/* SPDX-License-Identifier: MIT */
/*
 * mha.c - what torch.nn.MultiheadAttention computes, written to be read.
 *
 * A specification that runs: one function per step and one loop per index, in
 * the order of the steps. mha_forward() at the end is the whole recipe; read
 * it first, then the steps from the top.
 *
 * Letters: n batch item, h head, i query (target) row, j key (source) row,
 * t row of either kind, e channel of the model, d channel of a head, c channel
 * of what comes in, m element of a whole array. N L S E Ek Ev H D Sx are the
 * sizes of mha.h.
 *
 * Every inner loop runs over numbers that lie side by side in memory, and each
 * sum is taken in its natural order.
 */
#include "mha.h"
#include "two_speeds.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- 1. layouts: (L,N,E), (N,L,E) or unbatched (L,E) all become (N,L,E) ---- */

static void rows(struct array *y, const real *x, const struct mha_in *in)
{
    size_t N = y->shape[0], T = y->shape[1], C = y->shape[2];

    FOR(n, N) FOR(t, T) FOR(c, C) {
        size_t from = in->batch_first ? n * T + t : t * N + n;    /* the same when N is 1 */
        y->v[(n * T + t) * C + c] = x[from * C + c];
    }
}

/* ---- 2. split: q_w, k_w, v_w = torch.split(in_proj_weight, [E, E, E]) ---- */

/* Block 0, 1 or 2 of the packed parameter: the rows of q, then of k, then of v. */
static void split(struct array *y, const real *packed, size_t block)
{
    FOR(m, y->size) y->v[m] = packed[block * y->size + m];
}

/* Where kdim or vdim differ from E the three weights come separately. */
static void take(struct array *y, const real *weight)
{
    FOR(m, y->size) y->v[m] = weight[m];
}

/* ---- 3. transpose: nn.Linear stores (out,in), the product below wants (in,out) ---- */

static void transpose(struct array *y, const real *w)
{
    size_t C = y->shape[0], E = y->shape[1];

    FOR(c, C) FOR(e, E) y->v[c * E + e] = w[e * C + c];
}

/* ---- 4. project: y = x @ w_t + b ---- */

/* Nearly all the time goes here, hence TWO_SPEEDS: the compiler makes it once
 * more for processors with AVX2. The numbers are the same. */
TWO_SPEEDS
static void project(struct array *y, const struct array *x, const struct array *w_t, const real *b)
{
    size_t C = w_t->shape[0], E = w_t->shape[1], T = y->size / (E ? E : 1);

    FOR(t, T) {
        real *out = y->v + t * E;
        FOR(e, E) out[e] = 0;
        FOR(c, C) {
            real a = x->v[t * C + c];
            const real *w = w_t->v + c * E;
            FOR(e, E) out[e] += a * w[e];
        }
        if (b) FOR(e, E) out[e] += b[e];
    }
}

/* ---- 5. heads: (N,T,E) -> (N,H,T,D); head h owns channels h*D to h*D+D-1 ---- */

static void split_heads(struct array *y, const struct array *x)
{
    size_t N = x->shape[0], T = x->shape[1], E = x->shape[2], H = y->shape[1], Tx = y->shape[2], D = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(t, T) FOR(d, D)
        y->v[((n * H + h) * Tx + t) * D + d] = x->v[(n * T + t) * E + h * D + d];
}

/* add_bias_kv: one more key (or value) row behind the S real ones, the same
 * learned one for every batch item. It is not projected. */
static void append_bias(struct array *y, size_t j, const real *bias)
{
    size_t N = y->shape[0], H = y->shape[1], Sx = y->shape[2], D = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(d, D) y->v[((n * H + h) * Sx + j) * D + d] = bias[h * D + d];
}

/* add_zero_attn: a last row of zeros, behind the bias row if there is one. */
static void append_zero(struct array *y, size_t j)
{
    size_t N = y->shape[0], H = y->shape[1], Sx = y->shape[2], D = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(d, D) y->v[((n * H + h) * Sx + j) * D + d] = 0;
}

/* ---- 6. mask: both masks become numbers to add, and are added to each other ---- */

static real additive(const struct mask *mask, size_t m)
{
    if (mask->masked)
        return mask->masked[m] ? -(real)INFINITY : 0;    /* true means: may not be attended */
    return mask->added[m];
}

/* (L,S) is the same for all; of (N*H,L,S) item n and head h take n*H+h.
 * The appended rows j >= S are never masked. */
static void add_attn_mask(struct array *y, const struct mha_in *in)
{
    size_t N = in->N, H = in->H, L = in->L, S = in->S, Sx = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(i, L) FOR(j, S) {
        size_t which = in->attn_mask.ndim == 3 ? n * H + h : 0;
        y->v[((n * H + h) * L + i) * Sx + j] += additive(&in->attn_mask, (which * L + i) * S + j);
    }
}

/* (N,S): a padded key is hidden from every query of its batch item. */
static void add_key_padding_mask(struct array *y, const struct mha_in *in)
{
    size_t N = in->N, H = in->H, L = in->L, S = in->S, Sx = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(i, L) FOR(j, S)
        y->v[((n * H + h) * L + i) * Sx + j] += additive(&in->key_padding_mask, n * S + j);
}

/* ---- 7. scores: q @ k.transpose(-1, -2) / sqrt(D) ---- */

static void score(struct array *y, const struct array *q, const struct array *k)
{
    size_t N = y->shape[0], H = y->shape[1], L = y->shape[2], Sx = y->shape[3], D = q->shape[3];

    FOR(n, N) FOR(h, H) FOR(i, L) FOR(j, Sx) {
        real sum = 0;
        FOR(d, D) sum += q->v[((n * H + h) * L + i) * D + d] * k->v[((n * H + h) * Sx + j) * D + d];
        y->v[((n * H + h) * L + i) * Sx + j] = sum / (real)sqrt((double)D);
    }
}

/* ---- 8. masked_scores: the mask is added, and is not scaled ---- */

static void add(struct array *y, const struct array *x, const struct array *mask)
{
    FOR(m, y->size) y->v[m] = x->v[m] + mask->v[m];
}

/* ---- 9. attn_weights: softmax over the keys ---- */

/* The largest score is subtracted first, or exp() would overflow. A row of
 * only -inf becomes NaN, as in PyTorch: -inf - -inf. */
static void softmax(struct array *y, const struct array *x)
{
    size_t N = y->shape[0], H = y->shape[1], L = y->shape[2], Sx = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(i, L) {
        const real *s = x->v + ((n * H + h) * L + i) * Sx;
        real *p = y->v + ((n * H + h) * L + i) * Sx;
        real max = -(real)INFINITY, sum = 0;
        FOR(j, Sx) if (s[j] > max) max = s[j];
        FOR(j, Sx) p[j] = (real)exp((double)(s[j] - max));
        FOR(j, Sx) sum += p[j];
        FOR(j, Sx) p[j] /= sum;
    }
}

/* ---- 10. head_outputs: attn_weights @ v ---- */

/* A weight of 0 does not hide a NaN: 0 * NaN is NaN, in PyTorch too. */
static void mix(struct array *y, const struct array *p, const struct array *v)
{
    size_t N = y->shape[0], H = y->shape[1], L = y->shape[2], D = y->shape[3], Sx = p->shape[3];

    FOR(n, N) FOR(h, H) FOR(i, L) {
        real *out = y->v + ((n * H + h) * L + i) * D;
        FOR(d, D) out[d] = 0;
        FOR(j, Sx) {
            real a = p->v[((n * H + h) * L + i) * Sx + j];
            const real *x = v->v + ((n * H + h) * Sx + j) * D;
            FOR(d, D) out[d] += a * x[d];
        }
    }
}

/* ---- 11. merged: (N,H,L,D) -> (N,L,E), the heads side by side again ---- */

static void merge_heads(struct array *y, const struct array *x)
{
    size_t N = x->shape[0], H = x->shape[1], L = x->shape[2], D = x->shape[3], E = y->shape[2];

    FOR(n, N) FOR(i, L) FOR(h, H) FOR(d, D)
        y->v[(n * L + i) * E + h * D + d] = x->v[((n * H + h) * L + i) * D + d];
}

/* ---- 12. output: out_proj(merged), by transpose() and project() ---- */

/* ---- 13. attn_weights_mean: what average_attn_weights=True returns ---- */

static void average_heads(struct array *y, const struct array *p)
{
    size_t N = p->shape[0], H = p->shape[1], L = p->shape[2], Sx = p->shape[3];

    FOR(n, N) FOR(i, L) FOR(j, Sx) {
        real sum = 0;
        FOR(h, H) sum += p->v[((n * H + h) * L + i) * Sx + j];
        y->v[(n * L + i) * Sx + j] = sum / (real)H;
    }
}

/* ==== the recipe ==== */

void mha_projections(struct array t[STAGES], const struct mha_in *in)
{
    rows(&t[QUERY_ROWS], in->query, in);
    rows(&t[KEY_ROWS], in->key, in);
    rows(&t[VALUE_ROWS], in->value, in);

    if (in->in_proj_weight) {
        split(&t[Q_WEIGHT], in->in_proj_weight, 0);
        split(&t[K_WEIGHT], in->in_proj_weight, 1);
        split(&t[V_WEIGHT], in->in_proj_weight, 2);
    } else {
        take(&t[Q_WEIGHT], in->q_proj_weight);
        take(&t[K_WEIGHT], in->k_proj_weight);
        take(&t[V_WEIGHT], in->v_proj_weight);
    }
    if (in->in_proj_bias) {
        split(&t[Q_BIAS], in->in_proj_bias, 0);
        split(&t[K_BIAS], in->in_proj_bias, 1);
        split(&t[V_BIAS], in->in_proj_bias, 2);
    }
    transpose(&t[Q_WEIGHT_T], t[Q_WEIGHT].v);
    transpose(&t[K_WEIGHT_T], t[K_WEIGHT].v);
    transpose(&t[V_WEIGHT_T], t[V_WEIGHT].v);

    project(&t[Q_PROJ], &t[QUERY_ROWS], &t[Q_WEIGHT_T], t[Q_BIAS].v);
    project(&t[K_PROJ], &t[KEY_ROWS], &t[K_WEIGHT_T], t[K_BIAS].v);
    project(&t[V_PROJ], &t[VALUE_ROWS], &t[V_WEIGHT_T], t[V_BIAS].v);

    split_heads(&t[Q_HEADS], &t[Q_PROJ]);
    split_heads(&t[K_HEADS], &t[K_PROJ]);
    split_heads(&t[V_HEADS], &t[V_PROJ]);

    size_t j = in->S;
    if (in->bias_k) {
        append_bias(&t[K_HEADS], j, in->bias_k);
        append_bias(&t[V_HEADS], j, in->bias_v);
        j++;
    }
    if (in->add_zero_attn) {
        append_zero(&t[K_HEADS], j);
        append_zero(&t[V_HEADS], j);
    }
}

void mha_core(struct array t[STAGES], const struct mha_in *in)
{
    FOR(m, t[MASK].size) t[MASK].v[m] = 0;
    if (in->attn_mask.ndim)
        add_attn_mask(&t[MASK], in);
    if (in->key_padding_mask.ndim)
        add_key_padding_mask(&t[MASK], in);

    score(&t[SCORES], &t[Q_HEADS], &t[K_HEADS]);
    add(&t[MASKED_SCORES], &t[SCORES], &t[MASK]);
    softmax(&t[ATTN_WEIGHTS], &t[MASKED_SCORES]);
    mix(&t[HEAD_OUTPUTS], &t[ATTN_WEIGHTS], &t[V_HEADS]);
}

void mha_output(struct array t[STAGES], const struct mha_in *in)
{
    merge_heads(&t[MERGED], &t[HEAD_OUTPUTS]);
    transpose(&t[OUT_WEIGHT_T], in->out_proj_weight);
    project(&t[OUTPUT], &t[MERGED], &t[OUT_WEIGHT_T], in->out_proj_bias);
    average_heads(&t[ATTN_WEIGHTS_MEAN], &t[ATTN_WEIGHTS]);
}

void mha_forward(struct array t[STAGES], const struct mha_in *in)
{
    mha_projections(t, in);
    mha_core(t, in);
    mha_output(t, in);
}

/* ==== room for the stages ==== */

static int named(struct array *a, const char *name, int ndim, size_t n0, size_t n1, size_t n2, size_t n3)
{
    size_t shape[4] = { n0, n1, n2, n3 }, size = 1;

    *a = (struct array){ .name = name, .ndim = ndim };
    FOR(k, 4) {
        if (shape[k] && size > (SIZE_MAX - CACHE_LINE) / sizeof(real) / shape[k])
            return 0;
        a->shape[k] = shape[k];
        size *= shape[k];
    }
    a->size = size;
    return 1;
}

static int room(struct array *a)
{
    a->v = aligned_alloc(CACHE_LINE, (a->size * sizeof(real) / CACHE_LINE + 1) * CACHE_LINE);    /* an empty stage exists too */
    if (!a->v)
        return 0;
    FOR(m, a->size) a->v[m] = 0;
    return 1;
}

const char *mha_shapes(struct array t[STAGES], const struct mha_in *in)
{
    size_t N = in->N, L = in->L, S = in->S, E = in->E, Ek = in->Ek, Ev = in->Ev, H = in->H, D = E / H;
    size_t Sx = S + (in->bias_k != NULL) + (in->add_zero_attn != 0);

    FOR(k, STAGES) t[k] = (struct array){ 0 };
    int ok = named(&t[QUERY_ROWS], "query_rows", 3, N, L, E, 1)
          && named(&t[KEY_ROWS], "key_rows", 3, N, S, Ek, 1)
          && named(&t[VALUE_ROWS], "value_rows", 3, N, S, Ev, 1)
          && named(&t[Q_WEIGHT], "q_weight", 2, E, E, 1, 1)
          && named(&t[K_WEIGHT], "k_weight", 2, E, Ek, 1, 1)
          && named(&t[V_WEIGHT], "v_weight", 2, E, Ev, 1, 1)
          && named(&t[Q_BIAS], "q_bias", 1, E, 1, 1, 1)
          && named(&t[K_BIAS], "k_bias", 1, E, 1, 1, 1)
          && named(&t[V_BIAS], "v_bias", 1, E, 1, 1, 1)
          && named(&t[Q_WEIGHT_T], "q_weight_t", 2, E, E, 1, 1)
          && named(&t[K_WEIGHT_T], "k_weight_t", 2, Ek, E, 1, 1)
          && named(&t[V_WEIGHT_T], "v_weight_t", 2, Ev, E, 1, 1)
          && named(&t[Q_PROJ], "q_proj", 3, N, L, E, 1)
          && named(&t[K_PROJ], "k_proj", 3, N, S, E, 1)
          && named(&t[V_PROJ], "v_proj", 3, N, S, E, 1)
          && named(&t[Q_HEADS], "q_heads", 4, N, H, L, D)
          && named(&t[K_HEADS], "k_heads", 4, N, H, Sx, D)
          && named(&t[V_HEADS], "v_heads", 4, N, H, Sx, D)
          && named(&t[MASK], "mask", 4, N, H, L, Sx)
          && named(&t[SCORES], "scores", 4, N, H, L, Sx)
          && named(&t[MASKED_SCORES], "masked_scores", 4, N, H, L, Sx)
          && named(&t[ATTN_WEIGHTS], "attn_weights", 4, N, H, L, Sx)
          && named(&t[HEAD_OUTPUTS], "head_outputs", 4, N, H, L, D)
          && named(&t[MERGED], "merged", 3, N, L, E, 1)
          && named(&t[OUT_WEIGHT_T], "out_weight_t", 2, E, E, 1, 1)
          && named(&t[OUTPUT], "output", 3, N, L, E, 1)
          && named(&t[ATTN_WEIGHTS_MEAN], "attn_weights_mean", 3, N, L, Sx, 1);

    return ok ? NULL : "not enough memory for the stages";
}

const char *mha_alloc(struct array t[STAGES], const struct mha_in *in)
{
    const char *wrong = mha_shapes(t, in);

    FOR(k, STAGES) {
        int absent = k >= Q_BIAS && k <= V_BIAS && !in->in_proj_bias;
        if (!wrong && !absent && !room(&t[k]))
            wrong = "not enough memory for the stages";
    }
    if (wrong)
        mha_free(t);
    return wrong;
}

void mha_free(struct array t[STAGES])
{
    FOR(k, STAGES) {
        free(t[k].v);
        t[k].v = NULL;
    }
}
