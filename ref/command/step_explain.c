/* SPDX-License-Identifier: MIT */
/*
 * One element in the numbers of the stage before.
 *
 * Letters: n batch item, h head, i query row, j key row, e channel, d channel
 * of a head, c what a sum runs over.
 */
#include <math.h>
#include <stdio.h>

#include "step.h"

#define TERMS 8    /* of a sum that are spelled out; of longer ones the first and the last */
#define FIRST 4

static void number(struct step_text *x, double v)
{
    step_add(x, isnan(v) ? "nan" : "%.6g", v);
}

/* A factor: what is negative stands in brackets. */
static void factor(struct step_text *x, double v)
{
    step_add(x, signbit(v) && !isnan(v) ? "(" : "");
    number(x, v);
    step_add(x, signbit(v) && !isnan(v) ? ")" : "");
}

static void addend(struct step_text *x, double v)
{
    int minus = signbit(v) && !isnan(v);

    step_add(x, minus ? " - " : " + ");
    number(x, minus ? -v : v);
}

/* What is subtracted in a softmax. */
static void less(struct step_text *x, double max)
{
    if (isinf(max))
        step_add(x, " - (-inf)");
    else
        addend(x, -max);
}

/* 1 where a long sum leaves term c of count out; the gap is written once. */
static int left_out(struct step_text *x, size_t c, size_t count)
{
    if (count <= TERMS || c < FIRST || c == count - 1)
        return 0;
    if (c == FIRST)
        step_add(x, " + ...");
    return 1;
}

/* "1*2 + (-1)*1", of count terms; returns the sum. */
static double products(struct step_text *x, const real *a, size_t a_stride, const real *b, size_t b_stride, size_t count)
{
    double sum = 0;

    for (size_t c = 0; c < count; c++) {
        sum += a[c * a_stride] * b[c * b_stride];
        if (left_out(x, c, count))
            continue;
        step_add(x, c ? " + " : "");
        factor(x, a[c * a_stride]);
        step_add(x, "*");
        factor(x, b[c * b_stride]);
    }
    if (!count)
        step_add(x, "0");
    return sum;
}

static void copied(struct step_text *x, const char *name, int ndim, size_t i0, size_t i1, size_t i2, double v)
{
    size_t at[3] = { i0, i1, i2 };

    step_add(x, " = ");
    step_index(x, name, ndim, at);
    step_add(x, " = ");
    number(x, v);
    step_add(x, "\n");
}

static void result(struct step_text *x, double v)
{
    step_add(x, " = ");
    number(x, v);
    step_add(x, "\n");
}

/* ---- the stages ---- */

static void explain_rows(struct step_text *x, const struct walk *w, double v)
{
    static const char *const names[] = { "query", "key", "value" };
    const struct mha_in *in = &w->v->in;
    const char *name = names[w->stage];

    if (!in->batched)
        copied(x, name, 2, w->at[1], w->at[2], 0, v);
    else if (in->batch_first)
        copied(x, name, 3, w->at[0], w->at[1], w->at[2], v);
    else
        copied(x, name, 3, w->at[1], w->at[0], w->at[2], v);
}

static void explain_split(struct step_text *x, const struct walk *w, double v)
{
    static const char *const separate[] = { "q_proj_weight", "k_proj_weight", "v_proj_weight" };
    size_t block = (size_t)(w->stage - (w->stage >= Q_BIAS ? Q_BIAS : Q_WEIGHT)), row = block * w->v->in.E + w->at[0];

    if (w->stage >= Q_BIAS)
        copied(x, "in_proj_bias", 1, row, 0, 0, v);
    else if (w->v->in.in_proj_weight)
        copied(x, "in_proj_weight", 2, row, w->at[1], 0, v);
    else
        copied(x, separate[block], 2, w->at[0], w->at[1], 0, v);
}

/* A row of x times a column of w_t, and a bias: q_proj, k_proj, v_proj, output. */
static void explain_project(struct step_text *x, const struct walk *w, const struct array *rows, const struct array *w_t,
                            const real *bias, const char *bias_name, double v)
{
    size_t C = w_t->shape[0], E = w_t->shape[1], e = w->at[2], row = w->at[0] * rows->shape[1] + w->at[1];

    step_add(x, " = ");
    products(x, rows->v + row * C, 1, w_t->v + e, E, C);
    if (bias)
        addend(x, bias[e]);
    result(x, v);
    step_add(x, "row %s[%zu,%zu,:], column %s[:,%zu]", rows->name, w->at[0], w->at[1], w_t->name, e);
    if (bias)
        step_add(x, ", and %s[%zu]", bias_name, e);
    step_add(x, "\n");
}

static void explain_heads(struct step_text *x, const struct walk *w, double v)
{
    static const char *const appended[] = { "", "bias_k", "bias_v" };
    const struct mha_in *in = &w->v->in;
    size_t D = w->t[Q_HEADS].shape[3], e = w->at[1] * D + w->at[3], t = w->at[2];

    if (w->stage == Q_HEADS || t < in->S)
        copied(x, w->t[Q_PROJ + (w->stage - Q_HEADS)].name, 3, w->at[0], t, e, v);
    else if (in->bias_k && t == in->S)
        copied(x, appended[w->stage - Q_HEADS], 1, e, 0, 0, v);
    else
        step_add(x, " = 0, the row that add_zero_attn appends\n");
    if (w->stage == Q_HEADS || t <= in->S)
        step_add(x, "channel h*D+d = %zu*%zu+%zu = %zu\n", w->at[1], D, w->at[3], e);
}

static void one_mask(struct step_text *x, const char *name, const struct mask *mask, int ndim, const size_t *at, size_t m)
{
    step_index(x, name, ndim, at);
    if (mask->masked)
        step_add(x, " is %s, so %s", mask->masked[m] ? "true" : "false", mask->masked[m] ? "-inf" : "0");
    else {
        step_add(x, " is ");
        number(x, mask->added[m]);
    }
}

static void explain_mask(struct step_text *x, const struct walk *w, double v)
{
    const struct mha_in *in = &w->v->in;
    size_t n = w->at[0], h = w->at[1], i = w->at[2], j = w->at[3], which = in->attn_mask.ndim == 3 ? n * in->H + h : 0;
    size_t at[3] = { which, i, j }, pair[2] = { n, j };

    if (!in->attn_mask.ndim && !in->key_padding_mask.ndim) {
        step_add(x, " = 0: this vector has no mask\n");
        return;
    }
    if (j >= in->S) {
        step_add(x, " = 0: an appended row is never masked\n");
        return;
    }
    result(x, v);
    if (in->attn_mask.ndim)
        one_mask(x, "attn_mask", &in->attn_mask, in->attn_mask.ndim, in->attn_mask.ndim == 3 ? at : at + 1, (which * in->L + i) * in->S + j);
    step_add(x, in->attn_mask.ndim && in->key_padding_mask.ndim ? "; " : "");
    if (in->key_padding_mask.ndim)
        one_mask(x, "key_padding_mask", &in->key_padding_mask, 2, pair, n * in->S + j);
    step_add(x, "\n");
}

static void explain_scores(struct step_text *x, const struct walk *w, double v)
{
    const struct array *q = &w->t[Q_HEADS], *k = &w->t[K_HEADS];
    size_t D = q->shape[3], block = w->at[0] * q->shape[1] + w->at[1];
    double sum;

    step_add(x, " = (");
    sum = products(x, q->v + (block * q->shape[2] + w->at[2]) * D, 1, k->v + (block * k->shape[2] + w->at[3]) * D, 1, D);
    step_add(x, ") / sqrt(%zu) = ", D);
    number(x, sum);
    step_add(x, " / %.6g", sqrt((double)D));
    result(x, v);
    step_add(x, "row q_heads[%zu,%zu,%zu,:], row k_heads[%zu,%zu,%zu,:]\n", w->at[0], w->at[1], w->at[2], w->at[0], w->at[1], w->at[3]);
}

static void explain_softmax(struct step_text *x, const struct walk *w, double v)
{
    const struct array *a = &w->t[MASKED_SCORES];
    size_t Sx = a->shape[3];
    const real *s = a->v + walk_offset(w) - w->at[3];
    double max = -INFINITY, sum = 0;

    for (size_t j = 0; j < Sx; j++)
        max = s[j] > max ? s[j] : max;
    step_add(x, " = exp(");
    number(x, s[w->at[3]]);
    less(x, max);
    step_add(x, ") / (");
    for (size_t j = 0; j < Sx; j++) {
        sum += exp(s[j] - max);
        if (left_out(x, j, Sx))
            continue;
        step_add(x, j ? " + exp(" : "exp(");
        number(x, s[j]);
        less(x, max);
        step_add(x, ")");
    }
    step_add(x, ")");
    if (isfinite(sum)) {
        step_add(x, " = ");
        number(x, exp(s[w->at[3]] - max));
        step_add(x, " / ");
        number(x, sum);
    }
    result(x, v);
    if (isinf(max) && max < 0)
        step_add(x, "every key of this query is masked: the largest score is -inf, and -inf minus -inf is nan\n");
    else
        step_add(x, "all of masked_scores[%zu,%zu,%zu,:]; the largest, %.6g, is subtracted first, which changes nothing but keeps exp in range\n",
                 w->at[0], w->at[1], w->at[2], max);
}

static void explain_mix(struct step_text *x, const struct walk *w, double v)
{
    const struct array *p = &w->t[ATTN_WEIGHTS], *u = &w->t[V_HEADS];
    size_t Sx = p->shape[3], D = u->shape[3], block = w->at[0] * p->shape[1] + w->at[1];

    step_add(x, " = ");
    products(x, p->v + (block * p->shape[2] + w->at[2]) * Sx, 1, u->v + block * Sx * D + w->at[3], D, Sx);
    result(x, v);
    step_add(x, "row attn_weights[%zu,%zu,%zu,:], column v_heads[%zu,%zu,:,%zu]\n", w->at[0], w->at[1], w->at[2], w->at[0], w->at[1], w->at[3]);
}

static void explain_merge(struct step_text *x, const struct walk *w, double v)
{
    size_t D = w->t[HEAD_OUTPUTS].shape[3], h = w->at[2] / D, d = w->at[2] % D, at[4] = { w->at[0], h, w->at[1], d };

    step_add(x, " = ");
    step_index(x, "head_outputs", 4, at);
    result(x, v);
    step_add(x, "channel %zu = h*D+d = %zu*%zu+%zu\n", w->at[2], h, D, d);
}

static void explain_mean(struct step_text *x, const struct walk *w, double v)
{
    const struct array *p = &w->t[ATTN_WEIGHTS];
    size_t H = p->shape[1], L = p->shape[2], Sx = p->shape[3];

    step_add(x, " = (");
    for (size_t h = 0; h < H; h++) {
        if (left_out(x, h, H))
            continue;
        step_add(x, h ? " + " : "");
        number(x, p->v[((w->at[0] * H + h) * L + w->at[1]) * Sx + w->at[2]]);
    }
    step_add(x, ") / %zu", H);
    result(x, v);
}

static void explain_rounding(struct step_text *x, const struct walk *w)
{
    double sigma = w->sigma[w->stage].v[walk_offset(w)];

    if (sigma > 0)
        step_add(x, "float32 may move it by 8 sigma = %.2g\n", ENVELOPE_SIGMAS * sigma);
}

void step_explain(struct step_text *x, const struct walk *w)
{
    const struct array *a = &w->t[w->stage];
    const struct mha_in *in = &w->v->in;
    enum mha_stage k = w->stage;
    double v;

    if (!a->size) {
        step_add(x, "%s is empty\n", a->name);
        return;
    }
    v = a->v[walk_offset(w)];
    step_index(x, a->name, a->ndim, w->at);
    if (k <= VALUE_ROWS)
        explain_rows(x, w, v);
    else if (k <= V_BIAS)
        explain_split(x, w, v);
    else if (k <= V_WEIGHT_T)
        copied(x, w->t[Q_WEIGHT + (k - Q_WEIGHT_T)].name, 2, w->at[1], w->at[0], 0, v);
    else if (k <= V_PROJ) {
        const struct array *bias = &w->t[Q_BIAS + (k - Q_PROJ)];
        explain_project(x, w, &w->t[QUERY_ROWS + (k - Q_PROJ)], &w->t[Q_WEIGHT_T + (k - Q_PROJ)], bias->v, bias->name, v);
    } else if (k <= V_HEADS)
        explain_heads(x, w, v);
    else if (k == MASK)
        explain_mask(x, w, v);
    else if (k == SCORES)
        explain_scores(x, w, v);
    else if (k == MASKED_SCORES) {
        step_add(x, " = ");
        number(x, w->t[SCORES].v[walk_offset(w)]);
        addend(x, w->t[MASK].v[walk_offset(w)]);
        result(x, v);
    } else if (k == ATTN_WEIGHTS)
        explain_softmax(x, w, v);
    else if (k == HEAD_OUTPUTS)
        explain_mix(x, w, v);
    else if (k == MERGED)
        explain_merge(x, w, v);
    else if (k == OUT_WEIGHT_T)
        copied(x, "out_proj.weight", 2, w->at[1], w->at[0], 0, v);
    else if (k == OUTPUT)
        explain_project(x, w, &w->t[MERGED], &w->t[OUT_WEIGHT_T], in->out_proj_bias, "out_proj.bias", v);
    else
        explain_mean(x, w, v);
    explain_rounding(x, w);
}
