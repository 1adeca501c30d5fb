/* SPDX-License-Identifier: MIT */
/*
 * mha.c - what torch.nn.MultiheadAttention computes, written to be read.
 *
 * One function per step and one loop per index, in the order of the steps.
 * mha_forward() at the end is the whole recipe; read it first.
 *
 * Letters: n batch item, h head, i query (target) row, j key (source) row,
 * t row of either kind, e channel of the model, d channel of a head, c channel
 * of what comes in, m element of a whole array; sizes as in mha.h.
 * Inner loops run over neighbours in memory; sums are in their natural order.
 */
#include "mha.h"
#include "two_speeds.h"
#include <math.h>

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

/* What a row looks for (query), is found by (key) and passes on (value) are three
 * views of it. Nearly all the time goes here, hence TWO_SPEEDS: compiled once
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

/* Each head attends in D channels of its own. With the heads in front, what
 * follows is the same for each of them, and a head's rows lie side by side. */
static void split_heads(struct array *y, const struct array *x)
{
    size_t N = x->shape[0], T = x->shape[1], E = x->shape[2], H = y->shape[1], D = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(t, T) FOR(d, D)
        AT(y, n, h, t, d) = x->v[(n * T + t) * E + h * D + d];
}

/* add_bias_kv: one more key (or value) row behind the S real ones, the same
 * learned one for every batch item. It is not projected. */
static void append_bias(struct array *y, size_t j, const real *bias)
{
    size_t N = y->shape[0], H = y->shape[1], D = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(d, D) AT(y, n, h, j, d) = bias[h * D + d];
}

/* add_zero_attn: a last row of zeros, behind the bias row if there is one. */
static void append_zero(struct array *y, size_t j)
{
    size_t N = y->shape[0], H = y->shape[1], D = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(d, D) AT(y, n, h, j, d) = 0;
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
    size_t N = in->N, H = in->H, L = in->L, S = in->S;

    FOR(n, N) FOR(h, H) FOR(i, L) FOR(j, S) {
        size_t which = in->attn_mask.ndim == 3 ? n * H + h : 0;
        AT(y, n, h, i, j) += additive(&in->attn_mask, (which * L + i) * S + j);
    }
}

/* (N,S): a padded key is hidden from every query of its batch item. */
static void add_key_padding_mask(struct array *y, const struct mha_in *in)
{
    size_t N = in->N, H = in->H, L = in->L, S = in->S;

    FOR(n, N) FOR(h, H) FOR(i, L) FOR(j, S)
        AT(y, n, h, i, j) += additive(&in->key_padding_mask, n * S + j);
}

/* ---- 7. scores: q @ k.transpose(-1, -2) / sqrt(D) ---- */

/* A score says how well a key fits a query: their dot product. A sum of D
 * products grows with sqrt(D); divided by it, the softmax stays equally sharp. */
static void score(struct array *y, const struct array *q, const struct array *k)
{
    size_t N = y->shape[0], H = y->shape[1], L = y->shape[2], Sx = y->shape[3], D = q->shape[3];

    FOR(n, N) FOR(h, H) FOR(i, L) FOR(j, Sx) {
        real sum = 0;
        FOR(d, D) sum += AT(q, n, h, i, d) * AT(k, n, h, j, d);
        AT(y, n, h, i, j) = sum / (real)sqrt((double)D);
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
        const real *s = &AT(x, n, h, i, 0);
        real *p = &AT(y, n, h, i, 0);
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
        real *out = &AT(y, n, h, i, 0);
        FOR(d, D) out[d] = 0;
        FOR(j, Sx) {
            real a = AT(p, n, h, i, j);
            const real *x = &AT(v, n, h, j, 0);
            FOR(d, D) out[d] += a * x[d];
        }
    }
}

/* ---- 11. merged: (N,H,L,D) -> (N,L,E), the heads side by side again ---- */

/* out_proj mixes the heads, so their channels become one row again. */
static void merge_heads(struct array *y, const struct array *x)
{
    size_t N = x->shape[0], H = x->shape[1], L = x->shape[2], D = x->shape[3], E = y->shape[2];

    FOR(n, N) FOR(i, L) FOR(h, H) FOR(d, D)
        y->v[(n * L + i) * E + h * D + d] = AT(x, n, h, i, d);
}

/* ---- 12. output: out_proj(merged), by transpose() and project() ---- */
/* ---- 13. attn_weights_mean: what average_attn_weights=True returns ---- */

static void average_heads(struct array *y, const struct array *p)
{
    size_t N = p->shape[0], H = p->shape[1], L = p->shape[2], Sx = p->shape[3];

    FOR(n, N) FOR(i, L) FOR(j, Sx) {
        real sum = 0;
        FOR(h, H) sum += AT(p, n, h, i, j);
        y->v[(n * L + i) * Sx + j] = sum / (real)H;
    }
}

/* ==== the recipe: each call below PyTorch's line, as in torch.nn.functional ==== */

void mha_projections(struct array stage[STAGES], const struct mha_in *in)
{
    /* query.transpose(0, 1) unless batch_first: (N,L,E); key (N,S,Ek), value (N,S,Ev) */
    rows(&stage[QUERY_ROWS], in->query, in);
    rows(&stage[KEY_ROWS], in->key, in);
    rows(&stage[VALUE_ROWS], in->value, in);
    /* q_w, k_w, v_w = torch.split(in_proj_weight, [E, E, E]): (E,E) each */
    if (in->in_proj_weight) {
        split(&stage[Q_WEIGHT], in->in_proj_weight, 0);
        split(&stage[K_WEIGHT], in->in_proj_weight, 1);
        split(&stage[V_WEIGHT], in->in_proj_weight, 2);
    } else {
        take(&stage[Q_WEIGHT], in->q_proj_weight);
        take(&stage[K_WEIGHT], in->k_proj_weight);
        take(&stage[V_WEIGHT], in->v_proj_weight);
    }
    /* q_b, k_b, v_b = torch.split(in_proj_bias, [E, E, E]): (E) each */
    if (in->in_proj_bias) {
        split(&stage[Q_BIAS], in->in_proj_bias, 0);
        split(&stage[K_BIAS], in->in_proj_bias, 1);
        split(&stage[V_BIAS], in->in_proj_bias, 2);
    }
    /* q_w.T, k_w.T, v_w.T: (E,E) (Ek,E) (Ev,E) */
    transpose(&stage[Q_WEIGHT_T], stage[Q_WEIGHT].v);
    transpose(&stage[K_WEIGHT_T], stage[K_WEIGHT].v);
    transpose(&stage[V_WEIGHT_T], stage[V_WEIGHT].v);
    /* qp = query @ q_w.T + q_b: (N,L,E); kp, vp: (N,S,E) */
    project(&stage[Q_PROJ], &stage[QUERY_ROWS], &stage[Q_WEIGHT_T], stage[Q_BIAS].v);
    project(&stage[K_PROJ], &stage[KEY_ROWS], &stage[K_WEIGHT_T], stage[K_BIAS].v);
    project(&stage[V_PROJ], &stage[VALUE_ROWS], &stage[V_WEIGHT_T], stage[V_BIAS].v);
    /* qpp = qp.reshape(N, L, H, D).transpose(1, 2): (N,H,L,D); kpp, vpp: (N,H,S,D) */
    split_heads(&stage[Q_HEADS], &stage[Q_PROJ]);
    split_heads(&stage[K_HEADS], &stage[K_PROJ]);
    split_heads(&stage[V_HEADS], &stage[V_PROJ]);
    /* torch.cat([kpp, bias_k], dim=2), torch.cat([kpp, zeros], dim=2): (N,H,Sx,D) */
    size_t j = in->S;
    if (in->bias_k) {
        append_bias(&stage[K_HEADS], j, in->bias_k);
        append_bias(&stage[V_HEADS], j, in->bias_v);
        j++;
    }
    if (in->add_zero_attn) {
        append_zero(&stage[K_HEADS], j);
        append_zero(&stage[V_HEADS], j);
    }
}

void mha_core(struct array stage[STAGES], const struct mha_in *in)
{
    /* mask = attn_mask + key_padding_mask[:, None, None]: (N,H,L,Sx) */
    FOR(m, stage[MASK].size) stage[MASK].v[m] = 0;
    if (in->attn_mask.ndim)
        add_attn_mask(&stage[MASK], in);
    if (in->key_padding_mask.ndim)
        add_key_padding_mask(&stage[MASK], in);

    /* ap = softmax(qpp @ kpp.transpose(-1, -2) / math.sqrt(D) + mask, dim=-1): (N,H,L,Sx) */
    score(&stage[SCORES], &stage[Q_HEADS], &stage[K_HEADS]);
    add(&stage[MASKED_SCORES], &stage[SCORES], &stage[MASK]);
    softmax(&stage[ATTN_WEIGHTS], &stage[MASKED_SCORES]);
    /* pp = ap @ vpp: (N,H,L,D) */
    mix(&stage[HEAD_OUTPUTS], &stage[ATTN_WEIGHTS], &stage[V_HEADS]);
}

void mha_output(struct array stage[STAGES], const struct mha_in *in)
{
    /* pp = pp.transpose(1, 2).reshape(N, L, E) */
    merge_heads(&stage[MERGED], &stage[HEAD_OUTPUTS]);
    /* op = pp @ out_proj.weight.T + out_proj.bias: (N,L,E) */
    transpose(&stage[OUT_WEIGHT_T], in->out_proj_weight);
    project(&stage[OUTPUT], &stage[MERGED], &stage[OUT_WEIGHT_T], in->out_proj_bias);
    /* ap.mean(dim=1): (N,L,Sx) */
    average_heads(&stage[ATTN_WEIGHTS_MEAN], &stage[ATTN_WEIGHTS]);
}

void mha_forward(struct array stage[STAGES], const struct mha_in *in)
{
    mha_projections(stage, in);
    mha_core(stage, in);
    mha_output(stage, in);
}
