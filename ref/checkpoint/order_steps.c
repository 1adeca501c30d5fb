/* SPDX-License-Identifier: MIT */
/*
 * The steps of a layer under a reading, in double, exact or with the rounding
 * of a precision after each step.
 *
 * Letters: n batch item, i query row, j key row, h query head, g key head, d
 * channel of a head, e output of q, k or v, o output of the layer.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- rounding ---- */

/* Round to a relative unit u: the operands of a tf32 product. */
static double round_operand(double x, const struct profile *p)
{
    int exponent;
    double m;

    if (!p || p->o == 0 || x == 0 || !isfinite(x))
        return x;
    m = frexp(x, &exponent);
    return ldexp(nearbyint(m / p->o) * p->o, exponent);
}

static double round_stored(double x, const struct profile *p)
{
    return p ? profile_round(p, x) : x;
}

/* Add a product to a sum in the accumulator of the precision: float, or double for float64. */
static double add_product(double sum, double a, double b, const struct profile *p)
{
    if (!p)
        return sum + a * b;
    a = round_operand(a, p);
    b = round_operand(b, p);
    return p->u < 1e-12 ? sum + a * b : (double)((float)sum + (float)((float)a * (float)b));
}

/* ---- products of every row with every output ---- */

/* Normalise a row of C channels by a norm of the block: a layer norm, or with a weight and no bias an RMS norm too. */
static void norm_row(double *y, const double *x, size_t C, const struct norm *norm, double eps, int rms)
{
    double mean = 0, square = 0;

    FOR(c, C) mean += x[c] / (double)C;
    if (rms)
        mean = 0;
    FOR(c, C) square += (x[c] - mean) * (x[c] - mean) / (double)C;
    FOR(c, C) y[c] = (x[c] - mean) / sqrt(square + eps) * (norm->weight ? norm->weight[c] : 1) + (norm->bias ? norm->bias[c] : 0);
}

static size_t all_outputs(const struct weights *w)
{
    return w->rows[0] + w->rows[1] + w->rows[2];
}

/* Return the weights of an output of the file, the o-th of all, for a way of storing. */
static void output_weights(double *y, size_t *inputs, const struct weights *w, enum storing storing, size_t o)
{
    const struct outputs sizes = { w->inputs[0], { w->rows[0], w->rows[1], w->rows[2] }, 0 };
    int slot = o < w->rows[0] ? 0 : o < w->rows[0] + w->rows[1] ? 1 : 2;
    size_t e = o - (slot > 0 ? w->rows[0] : 0) - (slot > 1 ? w->rows[1] : 0);

    *inputs = w->separate ? w->inputs[slot] : w->inputs[0];
    FOR(i, *inputs)
        y[i] = !w->separate ? w->part[0][layout_index(storing, &sizes, o, i)]
             : w->part[slot][storing == STORED_BLOCKS ? i * w->rows[slot] + e : e * *inputs + i];
}

size_t products_size(const struct io *io, const struct weights *w)
{
    double size = ((double)io->L + 2 * (double)io->S) * (double)(all_outputs(w) + io->O) + 1;

    return size < (double)SIZE_MAX / 4 ? (size_t)size : SIZE_MAX / 4;
}

int products_make(struct products *p, const struct io *io, const struct weights *w, const struct reading *r, size_t N, size_t L,
                  const struct profile *rounding)
{
    size_t outputs = all_outputs(w), widest = w->inputs[0] + w->inputs[1] + w->inputs[2], inputs;
    double *buffer = malloc((widest + 1) * sizeof *buffer), *rows[3] = { NULL };
    int ok = buffer != NULL;

    *p = (struct products){ .N = N, .L = L };
    FOR(x, 3) {
        size_t T = x ? io->S : L, whole = x ? io->S : io->L, C = io->width[x];
        p->p[x] = malloc((N * T * outputs + 1) * sizeof **p->p);
        rows[x] = malloc((N * T * C + 1) * sizeof **rows);
        ok = ok && p->p[x] && rows[x];
        FOR(n, ok ? N : 0) FOR(t, T) {
            const double *from = io->rows[x] + (n * whole + t) * C;
            const struct norm *norm = r->steps.pre_norm ? &w->norm[(r->steps.pre_norm - 1) / 2] : NULL;
            if (norm && C == w->inputs[0])
                norm_row(rows[x] + (n * T + t) * C, from, C, norm, r->steps.eps, (r->steps.pre_norm - 1) % 2);
            else
                memcpy(rows[x] + (n * T + t) * C, from, C * sizeof *from);
        }
    }
    FOR(o, ok ? outputs : 0) {
        output_weights(buffer, &inputs, w, r->layout.storing, o);
        FOR(x, 3) FOR(t, io->width[x] == inputs ? N * (x ? io->S : L) : 0) {
            const double *row = rows[x] + t * inputs;
            double sum = 0;
            if (rounding)
                FOR(i, inputs) sum = add_product(sum, row[i], buffer[i], rounding);
            else
                FOR(i, inputs) sum += row[i] * buffer[i];
            p->p[x][t * outputs + o] = sum;
        }
    }
    FOR(x, 3) free(rows[x]);
    free(buffer);
    if (!ok)
        products_free(p);
    return ok;
}

void products_free(struct products *p)
{
    FOR(x, 3) {
        free(p->p[x]);
        p->p[x] = NULL;
    }
}

/* ---- heads ---- */

/* The heads of q, k or v: (N, heads, T, D). */
struct heads {
    size_t heads, T, D;
    double *v;
};

static int gather(struct heads *y, int which, const struct products *p, const struct io *io, const struct weights *w, const struct reading *r,
                  const struct profile *rounding)
{
    const struct outputs sizes = weights_outputs(w, r);
    const double *appended = which == 1 ? w->bias_k : which == 2 ? w->bias_v : NULL;
    size_t rows = which ? io->S : p->L, outputs = all_outputs(w), D = w->rows[0] / r->H;
    size_t start = (r->layout.slot[which] > 0 ? w->rows[0] : 0) + (r->layout.slot[which] > 1 ? w->rows[1] : 0);

    *y = (struct heads){ which ? r->G : r->H, rows + (which ? (w->bias_k != NULL) + (size_t)io->zero_row : 0), D, NULL };
    if (!(y->v = calloc(p->N * y->heads * y->T * D + 1, sizeof *y->v)))
        return 0;
    FOR(e, y->heads * D) {
        size_t o = w->separate ? start + e : layout_output(&r->layout, &sizes, which, e);
        double bias = weights_bias(w, r, which, e);
        FOR(n, p->N) FOR(t, y->T) {
            double *to = &y->v[((n * y->heads + e / D) * y->T + t) * D + e % D];
            *to = t < rows ? round_stored(p->p[which][(n * rows + t) * outputs + o] + bias, rounding) : appended && t == rows ? appended[e] : 0;
        }
    }
    return 1;
}

/* Normalise the heads of q or k, one head or all heads of a row at once, by the layer's own weights. */
static void norm_heads(struct heads *x, size_t N, size_t T, const double *weight, const double *bias, size_t size, const struct steps *steps)
{
    size_t whole = size == x->D ? 1 : x->heads;

    FOR(n, N) FOR(h, x->heads / whole) FOR(t, T) {
        double mean = 0, square = 0, count = (double)(whole * x->D);
        FOR(k, whole) FOR(d, x->D) mean += x->v[((n * x->heads + h * whole + k) * x->T + t) * x->D + d] / count;
        if (steps->norm != HEAD_NORM_LAYER)
            mean = 0;
        FOR(k, whole) FOR(d, x->D) {
            double a = x->v[((n * x->heads + h * whole + k) * x->T + t) * x->D + d] - mean;
            square += a * a / count;
        }
        FOR(k, whole) FOR(d, x->D) {
            double *a = &x->v[((n * x->heads + h * whole + k) * x->T + t) * x->D + d];
            double by = weight[k * x->D + d] + (steps->norm == HEAD_NORM_RMS_PLUS_1);
            *a = (*a - mean) / sqrt(square + steps->eps) * by + (bias ? bias[k * x->D + d] : 0);
        }
    }
}

/* Rotate the first channels of each head by the position of its row. */
static void rotate(struct heads *x, size_t N, size_t T, const struct steps *steps, const struct io *io, const struct profile *rounding)
{
    size_t R = steps->rotary, half = R / 2;
    int halves = steps->position == POSITION_HALVES;

    FOR(n, N) FOR(h, x->heads) FOR(t, T) FOR(k, half) {
        double *row = x->v + ((n * x->heads + h) * x->T + t) * x->D;
        double *a = &row[halves ? k : 2 * k], *b = &row[halves ? half + k : 2 * k + 1], first = *a;
        double c, s, rate = steps->base > 0 ? pow(steps->base, -2.0 * (double)k / (double)R) : 0, angle = (double)t * rate;
        if (steps->base > 0) {
            if (rounding)    /* angles are float in every precision but float64 */
                angle = rounding->u < 1e-12 ? angle : (double)((float)t * (float)rate);
            c = cos(angle);
            s = sin(angle);
        } else {    /* as recorded: R/2 angles, or each twice, in halves or in pairs */
            const size_t at = ((io->rope_items > 1 ? n : 0) * io->L + t) * io->R;
            /* Row 1 tells which: at row 0 every angle is 0. */
            const size_t one = ((io->rope_items > 1 ? n : 0) * io->L + (io->L > 1)) * io->R;
            int twice_in_pairs = io->R == R && R > 2 && io->sin[one] == io->sin[one + 1] && io->sin[one] != io->sin[one + half];
            c = io->cos[at + (twice_in_pairs ? 2 * k : k)];
            s = io->sin[at + (twice_in_pairs ? 2 * k : k)];
        }
        *a = first * c - *b * s;
        *b = *b * c + first * s;
    }
}

static double slope(size_t h, size_t H)
{
    size_t power = 1;

    while (2 * power <= H)
        power *= 2;
    if (h < power)
        return pow(2, -8.0 * (double)(h + 1) / (double)power);
    return pow(2, -4.0 * (double)(2 * (h - power) + 1) / (double)power);    /* every second one of twice as many */
}

/* ---- scores and output ---- */

/* Return what a recorded mask adds to a score. In a bool mask true is masked, or with inverted may be attended. */
static double mask_value(const struct npz_array *m, size_t at, int inverted)
{
    double x = npz_value(m, at);

    if (m->type == NPZ_B1)
        return (x != 0) != inverted ? -INFINITY : 0;
    return inverted ? (x != 0 ? 0 : -INFINITY) : x;
}

static double mask_at(const struct io *io, const struct reading *r, size_t n, size_t h, size_t i, size_t j)
{
    int inverted = r->steps.mask == MASK_INVERTED;
    const struct npz_array *m = io->mask;
    double sum = 0;

    if (m) {
        size_t first = m->ndim > 2 ? m->shape[0] : 1, second = m->ndim > 3 ? m->shape[1] : 1;
        size_t plane = m->ndim == 4 ? (first == 1 ? 0 : n) * second + (second == 1 ? 0 : h * second / r->H)
                     : m->ndim == 3 ? (first == io->N * r->H ? n * r->H + h : first == r->H ? h : first == io->N ? n : 0) : 0;
        sum += plane * io->L * io->S < m->size ? mask_value(m, (plane * io->L + i) * io->S + j, inverted) : 0;
    }
    if (io->padding)
        sum += mask_value(io->padding, n * io->S + j, inverted);
    return sum;
}

static double scale_of(const struct reading *r, const struct weights *w)
{
    double D = (double)w->rows[0] / (double)r->H, E = (double)w->inputs[0];

    switch (r->steps.scale) {
    case SCALE_NONE:   return 1;
    case SCALE_D:      return 1 / D;
    case SCALE_ROOT_E: return 1 / sqrt(E);
    case SCALE_E:      return 1 / E;
    default:           return 1 / sqrt(D);
    }
}

/* Return what position and mask add to a score of query row i and key row j. */
static double added(const struct io *io, const struct reading *r, size_t n, size_t h, size_t i, size_t j, size_t valid)
{
    double x = j < io->S ? mask_at(io, r, n, h, i, j) : 0, distance = (double)j - (double)i;

    if (j >= io->S)
        return 0;
    if (r->steps.mask == MASK_CAUSAL && j > i + (io->S > io->L ? io->S - io->L : 0))
        return -INFINITY;
    if (valid < io->S && (r->steps.mask == MASK_PADDED ? j >= valid : j < io->S - valid))
        return -INFINITY;
    if (r->steps.position == POSITION_ALIBI)
        x += slope(h, r->H) * distance;
    if (r->steps.position == POSITION_ALIBI_BOTH)
        x -= slope(h, r->H) * fabs(distance);
    return x;
}

/* Work out one row of one head: its D channels into y. at: n, h, i and the number
 * of valid keys of item n. score has room for all keys. */
static void attend(double *y, double *score, const struct heads t[3], const struct io *io, const struct weights *w, const struct reading *r,
                   const size_t at[4], const struct profile *rounding)
{
    size_t n = at[0], h = at[1], i = at[2], g = h * r->G / r->H, T = t[1].T, D = t[0].D;
    const double *q = t[0].v + ((n * r->H + h) * t[0].T + i) * D, scale = scale_of(r, w);
    double largest = -INFINITY, sum = 0;

    FOR(j, T) {
        const double *k = t[1].v + ((n * r->G + g) * T + j) * D;
        double dot = 0;
        FOR(d, D) dot = add_product(dot, q[d], k[d], rounding);
        score[j] = round_stored(round_stored(dot * scale, rounding) + added(io, r, n, h, i, j, at[3]), rounding);
        largest = score[j] > largest ? score[j] : largest;
    }
    FOR(j, T) {
        score[j] = round_stored(exp(score[j] - largest), rounding);
        sum += score[j];
    }
    FOR(d, D) y[d] = 0;
    FOR(j, T) {
        const double *v = t[2].v + ((n * r->G + g) * T + j) * D, weight = round_stored(score[j] / sum, rounding);
        FOR(d, D) y[d] = add_product(y[d], weight, v[d], rounding);
    }
    FOR(d, D) y[d] = round_stored(y[d], rounding);
}

/* Project one row of A channels to some outputs, with bias and residual. */
static void project(double *y, const double *x, const double *residual, const struct weights *w, const struct reading *r,
                    const size_t *channel, size_t count, const struct profile *rounding)
{
    size_t A = w->rows[0];

    FOR(k, count) {
        size_t o = channel ? channel[k] : k;
        double sum = 0;
        FOR(a, A) sum = add_product(sum, x[a], w->out[r->out_transposed ? a * w->O + o : o * A + a], rounding);
        if (w->out_bias && !r->steps.no_out_bias)
            sum += w->out_bias[o];
        y[k] = round_stored(sum, rounding);
        if (r->steps.residual && residual)
            y[k] = round_stored(y[k] + residual[o], rounding);
    }
}

/* The heads of q, k and v with norms and rotation. Returns 0 without memory. */
static int make_heads(struct heads t[3], const struct products *p, const struct io *io, const struct weights *w, const struct reading *r,
                      const struct profile *rounding)
{
    const struct steps *s = &r->steps;
    const double *weight[2] = { w->q_norm, w->k_norm }, *bias[2] = { w->q_norm_bias, w->k_norm_bias };
    const size_t size[2] = { w->q_norm_size, w->k_norm_size }, T[2] = { p->L, io->S };
    int ok = 1;

    for (int which = 0; which < 3; which++)
        ok = gather(&t[which], which, p, io, w, r, rounding) && ok;
    for (int which = 0; which < 2 && ok; which++) {
        int fits = size[which] == t[which].D || size[which] == t[which].heads * t[which].D;
        int normed = s->norm != HEAD_NORM_NONE && weight[which] && fits;
        if (normed && !s->norm_late)
            norm_heads(&t[which], p->N, T[which], weight[which], bias[which], size[which], s);
        if (s->position >= POSITION_HALVES)
            rotate(&t[which], p->N, T[which], s, io, rounding);
        if (normed && s->norm_late)
            norm_heads(&t[which], p->N, T[which], weight[which], bias[which], size[which], s);
        FOR(m, rounding ? p->N * t[which].heads * t[which].T * t[which].D : 0) t[which].v[m] = round_stored(t[which].v[m], rounding);
    }
    return ok;
}

int steps_run(double *out, const struct products *p, const struct io *io, const struct weights *w, const struct reading *r,
              const struct output_part *part, const struct profile *rounding)
{
    struct heads t[3] = { { 0 } };
    size_t A = w->rows[0], D = A / r->H;
    int ok = make_heads(t, p, io, w, r, rounding);
    double *row = malloc((A + 1) * sizeof *row), *score = malloc((t[1].T + 1) * sizeof *score);
    const double *residual = io->residual ? io->residual : io->width[0] == io->O ? io->rows[0] : NULL;

    ok = ok && row && score;
    FOR(n, ok ? p->N : 0) FOR(i, p->L) {
        FOR(h, r->H) attend(row + h * D, score, t, io, w, r, (size_t[]){ n, h, i, part->lengths ? part->lengths[n] : SIZE_MAX }, rounding);
        project(out + (n * p->L + i) * part->count, row, residual ? residual + (n * io->L + i) * io->O : NULL, w, r, part->channel, part->count, rounding);
    }
    for (int which = 0; which < 3; which++)
        free(t[which].v);
    free(row);
    free(score);
    return ok;
}

/* ---- in words ---- */

const char *steps_text(char text[STEPS_TEXT], const struct steps *s)
{
    static const char *const scales[SCALES] = { "", "scores not scaled, or the scale folded into q", "scores times 1/D", "scores times 1/sqrt(E)", "scores times 1/E" };
    static const char *const masks[MASKS] = { "", "causal mask (not in the record)", "mask inverted: true may be attended",
                                              "keys padded at the end (not in the record)", "keys padded at the begin (not in the record)" };
    static const char *const positions[POSITIONS] = { "", "ALiBi (slope * (j - i))", "ALiBi (-slope * |i - j|)", "rotary positions in halves", "rotary positions in pairs" };
    static const char *const norms[HEAD_NORMS] = { "", "RMS norm of q and k", "RMS norm of q and k with 1 + weight", "layer norm of q and k" };
    char position[120], norm[80];
    const char *part[7] = { 0 };
    size_t at = 0;

    snprintf(position, sizeof position, s->position >= POSITION_HALVES ? "%s, %zu channels" : "%s", positions[s->position], s->rotary);
    if (s->position >= POSITION_HALVES)
        snprintf(position + strlen(position), sizeof position - strlen(position), s->base > 0 ? ", base %g" : " (cos, sin of the record)", s->base);
    snprintf(norm, sizeof norm, s->norm ? "%s%s, eps %g" : "%s", norms[s->norm], s->norm_late ? " after the rotation" : "", s->eps);
    part[0] = scales[s->scale];
    part[1] = masks[s->mask];
    part[2] = position;
    part[3] = norm;
    part[4] = !s->pre_norm ? "" : (s->pre_norm - 1) % 2 ? "the record has the input before an RMS norm" : "the record has the input before a layer norm";
    part[5] = s->residual ? "the output contains the residual" : "";
    part[6] = s->no_out_bias ? "the output lacks the bias of the output projection" : "";
    text[0] = '\0';
    for (int k = 0; k < 7; k++)
        if (part[k][0])
            at += (size_t)snprintf(text + at, STEPS_TEXT - at, "%s%s", at ? "; " : "", part[k]);
    return text;
}
