/* SPDX-License-Identifier: MIT */
/*
 * envelope.c - the walk of mha.c once more, for variances.
 *
 * An honest kernel rounds at every step. Each rounding is taken as an error of
 * mean 0 and a third of the squared unit roundoff times the squared number; the
 * variances add up, and move through each step by its derivative. What several
 * roundings have in common is carried apart, since common errors do not average
 * out. Every term below names the mechanism it stands for; docs/tolerance.md
 * derives them.
 *
 * Letters: n batch item, h head, i query row, j key row, t row of either kind,
 * e channel of the model, d channel of a head, c channel of what comes
 * in, m element of a whole array. V of a number is its variance.
 */
#include "envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "envelope_row.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)
#define MAX(a, b) fmax(a, b)

/* ---- project: y = x @ w_t + b, the weights exact ---- */

/* Columns first to first + count - 1 of w_t, and of b. tiny: a weight of them may become 0. */
struct weight { const double *w_t; size_t C, E, first, count; const double *b; int tiny; };

static struct weight weight(const struct array *w_t, const double *b, const struct units *u)
{
    struct weight w = { w_t->v, w_t->shape[0], w_t->shape[1], 0, w_t->shape[1], b, 0 };

    FOR(m, w_t->size) w.tiny |= flushed(u, w_t->v[m]) > 0;
    return w;
}

/* Adds what is lost in one row where parameters or arguments become 0 before
 * they are multiplied: all errors lean the same way. */
static void lose_operands(double *V, const struct units *u, const double *x, const struct weight *weight)
{
    FOR(e, weight->count) {
        double lost = 0;
        FOR(c, weight->C) {
            double a = x[c], w = weight->w_t[c * weight->E + weight->first + e];
            lost += flushed(u, a) * fabs(w) + fabs(a) * flushed(u, w);
        }
        V[e] += lost * lost;
    }
}

/* Adds the variance of each of the rows' results to V (rows,count). Vx: of x,
 * NULL where x is exact. stored: 16 bits keep the result. */
static void project(double *V, const struct units *u, const double *x, const double *Vx, size_t rows,
                    const struct weight *weight, int stored, double *room)
{
    size_t C = weight->C, n = weight->count;

    FOR(t, rows) {
        double *out = V + t * n;
        struct sums_row s = sums_row(room, n);
        int tiny = weight->tiny;
        FOR(c, C) {
            double a = x[t * C + c];
            tiny |= flushed(u, a) > 0;
            const double *w = weight->w_t + c * weight->E + weight->first;
            sums_row_add(&s, n, a, w);
            if (Vx) FOR(e, n) out[e] += Vx[t * C + c] * w[e] * w[e];          /* errors of x, weighed */
        }
        FOR(e, n) {
            struct sums one = sums_row_at(&s, e);
            double bias = weight->b ? weight->b[weight->first + e] : 0, y = one.y + bias;
            out[e] += summed(u, &one, (double)C, bias) + (stored ? store(u, y) : 0);
            if (weight->b) {
                out[e] += u->U * y * y;                                       /* one more addition */
                out[e] += u->T * one.y * one.y;                               /* 16 bits: the product is stored before it */
            }
        }
        if (tiny)
            lose_operands(out, u, x + t * C, weight);
    }
}

/* (N,T,E) -> (N,H,T,D), as in mha.c; appended rows are parameters, hence exact. */
static void split_heads(struct array *y, const struct array *x)
{
    size_t N = x->shape[0], T = x->shape[1], E = x->shape[2], H = y->shape[1], Tx = y->shape[2], D = y->shape[3];

    FOR(n, N) FOR(h, H) FOR(t, T) FOR(d, D)
        y->v[((n * H + h) * Tx + t) * D + d] = x->v[(n * T + t) * E + h * D + d];
}

/* Two float masks are added to each other, in whatever order with the score:
 * each sum rounds, and a 16-bit kernel stores it. */
static void mask(struct array *V, const struct units *u, const struct mha_in *in)
{
    const struct mask *f = &in->attn_mask, *g = &in->key_padding_mask;
    size_t N = in->N, H = in->H, L = in->L, S = in->S, Sx = V->shape[3];

    if (!f->added || !g->added)
        return;
    FOR(n, N) FOR(h, H) FOR(i, L) FOR(j, S) {
        double a = f->added[((f->ndim == 3 ? n * H + h : 0) * L + i) * S + j], b = g->added[n * S + j];
        if (isfinite(a + b))
            V->v[((n * H + h) * L + i) * Sx + j] = u->U * (a * a + b * b) + store(u, a + b);
    }
}

/* ---- the parts ---- */

/* Room for the walk, cut into pieces. */
struct scratch {
    double *Vl;              /* (N,H,L): of the normalisers */
    double *Vc;              /* (N,L,E): of the mixed values, without the normalisers' part */
    double *Vq, *Vs;         /* (D) (Sx) */
    double *k_t, *Vk_t, *sigma_k_t, *turned_k_t;    /* (D,Sx): the keys of a head, transposed */
    double *keys;            /* (12,Sx) */
    double *sums, *lean;     /* (5,E), and (7,D) or (E) */
    double *mixed, *Vmixed;  /* (L,Ev) (L,D): value rows mixed before they are projected */
    double *u;               /* (Sx,E): what each value row of a head would add to the output */
};

static void projections(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                        const struct mha_in *in, const struct profile *p)
{
    struct units u = units_of(p);
    size_t N = in->N, L = in->L, S = in->S;
    struct weight q = weight(&t[Q_WEIGHT_T], t[Q_BIAS].v, &u), k = weight(&t[K_WEIGHT_T], t[K_BIAS].v, &u), v = weight(&t[V_WEIGHT_T], t[V_BIAS].v, &u);

    project(V[Q_PROJ].v, &u, t[QUERY_ROWS].v, NULL, N * L, &q, 1, w->sums);
    project(V[K_PROJ].v, &u, t[KEY_ROWS].v, NULL, N * S, &k, 1, w->sums);
    project(V[V_PROJ].v, &u, t[VALUE_ROWS].v, NULL, N * S, &v, 1, w->sums);
    split_heads(&V[Q_HEADS], &V[Q_PROJ]);
    split_heads(&V[K_HEADS], &V[K_PROJ]);
    split_heads(&V[V_HEADS], &V[V_PROJ]);
    for (int s = Q_HEADS; s <= V_HEADS; s++)
        FOR(m, V[s].size) V[s].v[m] = finite_or_0(V[s].v[m]);
}

/* What value rows have in common does not average out in the mix: a weight's
 * operand rounds the same for all of them, and equal rows err equally. But a
 * mix of projected rows is the projection of the mixed row, whose error bounds
 * what is common. */
static void mix_first(struct scratch *w, const struct array t[STAGES], const struct mha_in *in, const struct units *u,
                      struct weight v, size_t n, size_t h)
{
    size_t H = in->H, L = in->L, S = in->S, C = in->Ev, Sx = t[SCORES].shape[3], D = in->E / H;

    v.first = h * D;
    v.count = D;
    FOR(m, L * C) w->mixed[m] = 0;
    FOR(m, L * D) w->Vmixed[m] = 0;
    FOR(i, L) FOR(j, S) {
        size_t m = ((n * H + h) * L + i) * Sx + j;
        double *restrict y = w->mixed + i * C, p = t[ATTN_WEIGHTS].v[m];
        const double *restrict x = t[VALUE_ROWS].v + (n * S + j) * C;
        if (t[MASKED_SCORES].v[m] != -INFINITY) FOR(c, C) y[c] += p * x[c];
    }
    project(w->Vmixed, u, w->mixed, NULL, L, &v, 0, w->sums);
    FOR(i, L) FOR(d, D) w->Vc[(n * L + i) * in->E + h * D + d] += w->Vmixed[i * D + d];
}

/* u_je: what value row j of the head would add to output e. */
static void through_output(double *u, const struct array t[STAGES], size_t head, size_t h)
{
    size_t Sx = t[V_HEADS].shape[2], D = t[V_HEADS].shape[3], E = t[OUT_WEIGHT_T].shape[1];

    FOR(m, Sx * E) u[m] = 0;
    FOR(j, Sx) FOR(d, D) {
        double v = t[V_HEADS].v[(head * Sx + j) * D + d];
        double *restrict y = u + j * E;
        const double *restrict w = t[OUT_WEIGHT_T].v + (h * D + d) * E;
        FOR(e, E) y[e] += v * w[e];
    }
}

/* An error of one weight moves all channels of its head. Where that adds up in
 * an output to more than independent channels would, the difference counts. */
static void weights_through_output(double *Vout, const struct row *r, const struct array *w_t, size_t h, const double *u, double *room)
{
    size_t D = r->D, E = w_t->shape[1];
    double *restrict mean = room, *restrict together = room + E;

    FOR(e, 2 * E) room[e] = 0;
    FOR(d, D) FOR(e, E) mean[e] += r->c[d] * w_t->v[(h * D + d) * E + e];
    FOR(j, r->Sx) {
        double V = masked(r, j) ? 0 : r->p[j] * r->p[j] * r->Vs[j];
        const double *restrict x = u + j * E;
        if (V > 0) FOR(e, E) together[e] += V * (x[e] - mean[e]) * (x[e] - mean[e]);
    }
    FOR(d, D) {
        double apart = 0;
        const double *restrict w = w_t->v + (h * D + d) * E;
        FOR(j, r->Sx) if (!masked(r, j)) {
            double off = r->v[j * D + d] - r->c[d];
            apart += r->p[j] * r->p[j] * r->Vs[j] * off * off;
        }
        FOR(e, E) together[e] -= w[e] * w[e] * apart;
    }
    FOR(e, E) if (together[e] > 0) Vout[e] += together[e];
}

static void core(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                 const struct mha_in *in, const struct profile *p, enum scope scope)
{
    struct units u = units_of(p);
    size_t N = in->N, H = in->H, L = in->L, E = in->E, Sx = t[SCORES].shape[3], D = E / H;

    struct weight v = weight(&t[V_WEIGHT_T], t[V_BIAS].v, &u);

    mask(&V[MASK], &u, in);
    FOR(n, N) FOR(h, H) {
        size_t head = n * H + h, k = head * Sx * D;
        FOR(j, Sx) FOR(d, D) {
            w->k_t[d * Sx + j] = finite_or_0(t[K_HEADS].v[k + j * D + d]);
            double lost = flushed(&u, w->k_t[d * Sx + j]);
            w->Vk_t[d * Sx + j] = V[K_HEADS].v[k + j * D + d] + lost * lost;
            w->sigma_k_t[d * Sx + j] = sqrt(w->Vk_t[d * Sx + j]);
            w->turned_k_t[d * Sx + j] = w->k_t[d * Sx + j] == 0 ? 0 : copysign(w->sigma_k_t[d * Sx + j], w->k_t[d * Sx + j]);
        }
        if (scope == SCOPE_LAYER) {
            mix_first(w, t, in, &u, v, n, h);
            through_output(w->u, t, head, h);
        }
        FOR(i, L) {
            size_t q = (head * L + i) * D, s = (head * L + i) * Sx, m = (n * L + i) * E + h * D;
            struct row r = {
                .Sx = Sx, .D = D, .q = t[Q_HEADS].v + q, .k_t = w->k_t, .v = t[V_HEADS].v + k,
                .mask = t[MASK].v + s, .sc = t[SCORES].v + s, .ms = t[MASKED_SCORES].v + s,
                .p = t[ATTN_WEIGHTS].v + s, .c = t[HEAD_OUTPUTS].v + q,
                .Vk_t = w->Vk_t, .sigma_k_t = w->sigma_k_t, .turned_k_t = w->turned_k_t, .Vv = V[V_HEADS].v + k, .Vmask = V[MASK].v + s,
                .Vsc = V[SCORES].v + s, .Vms = V[MASKED_SCORES].v + s, .Vp = V[ATTN_WEIGHTS].v + s,
                .Vc = w->Vc + m, .Vq = w->Vq, .Vs = w->Vs, .sums = w->sums, .lean = w->lean, .keys = w->keys,
            };
            FOR(d, D) {
                double lost = flushed(&u, r.q[d]);
                r.Vq[d] = V[Q_HEADS].v[q + d] + store(&u, r.q[d]) + lost * lost;    /* kernels store the scaled q once more */
            }
            row_walk(&r, &u, p);
            if (scope == SCOPE_LAYER)
                weights_through_output(V[OUTPUT].v + (n * L + i) * E, &r, &t[OUT_WEIGHT_T], h, w->u, w->sums);
            w->Vl[head * L + i] = r.Vl;
            FOR(d, D) V[HEAD_OUTPUTS].v[q + d] = V[MERGED].v[m + d] = r.Vc[d] + r.Vl * r.c[d] * r.c[d];
        }
    }
}

/* An error of the normaliser moves all channels of its head together. */
static void output(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                   const struct mha_in *in, const struct profile *p)
{
    struct units u = units_of(p);
    size_t N = in->N, H = in->H, L = in->L, E = in->E, D = E / H;
    struct weight out = weight(&t[OUT_WEIGHT_T], in->out_proj_bias, &u);

    project(V[OUTPUT].v, &u, t[MERGED].v, w->Vc, N * L, &out, 1, w->sums);
    FOR(n, N) FOR(i, L) FOR(h, H) {
        const double *c = t[MERGED].v + (n * L + i) * E + h * D, *w_t = t[OUT_WEIGHT_T].v + h * D * E;
        double Vl = w->Vl[(n * H + h) * L + i];
        double *head = w->lean;                                               /* (E): what this head adds to each output */
        FOR(e, E) head[e] = 0;
        FOR(d, D) FOR(e, E) head[e] += c[d] * w_t[d * E + e];
        FOR(e, E) V[OUTPUT].v[(n * L + i) * E + e] += Vl * head[e] * head[e];
    }
}

/* The weights of several heads are independent, unless equal heads truncate
 * their operands alike; their normalisers may lean the same way. Takes the weights without the normalisers' part, and adds it. */
static void average(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                    const struct mha_in *in, const struct profile *p)
{
    struct units u = units_of(p);
    size_t N = in->N, H = in->H, L = in->L, Sx = t[SCORES].shape[3];

    FOR(n, N) FOR(i, L) FOR(j, Sx) {
        double mean = t[ATTN_WEIGHTS_MEAN].v[(n * L + i) * Sx + j], own = 0, alike = 0, common = 0;
        size_t open = 0;
        FOR(h, H) {
            size_t m = ((n * H + h) * L + i) * Sx + j;
            double pw = t[ATTN_WEIGHTS].v[m], Vl = w->Vl[(n * H + h) * L + i];
            if (t[MASKED_SCORES].v[m] == -INFINITY)
                continue;
            own += V[ATTN_WEIGHTS].v[m];
            alike += sqrt(V[ATTN_WEIGHTS].v[m]);
            common += pw * sqrt(Vl);
            V[ATTN_WEIGHTS].v[m] += pw * pw * Vl;
            open++;
        }
        V[ATTN_WEIGHTS_MEAN].v[(n * L + i) * Sx + j] = ((u.O > 0 ? alike * alike : own) + common * common) / (double)(H * H)
            + u.U * mean * mean * (double)(H + 1) + (open ? store(&u, mean) : 0);
    }
}

static double *numbers(size_t a, size_t b)
{
    size_t n = a * b;

    return calloc(n ? n : 1, sizeof(double));
}

const char *envelope(struct array V[STAGES], const struct array t[STAGES],
                     const struct mha_in *in, const struct profile *p, enum scope scope)
{
    size_t N = in->N, H = in->H, L = in->L, E = in->E, D = E / H, Sx = t[SCORES].shape[3];
    struct scratch w = {
        .Vl = numbers(N * H, L), .Vc = numbers(N * L, E), .Vq = numbers(D, 1), .Vs = numbers(Sx, 1),
        .sums = numbers(5, E), .lean = numbers(7, E), .mixed = numbers(L, in->Ev), .Vmixed = numbers(L, D), .u = numbers(Sx, E),
        .k_t = numbers(D, Sx), .Vk_t = numbers(D, Sx), .sigma_k_t = numbers(D, Sx), .turned_k_t = numbers(D, Sx), .keys = numbers(12, Sx),
    };
    int ok = w.Vl && w.Vc && w.Vq && w.Vs && w.sums && w.lean && w.mixed && w.Vmixed && w.u && w.k_t && w.Vk_t && w.sigma_k_t && w.turned_k_t && w.keys;

    if (ok) {
        FOR(k, STAGES) if (V[k].v) memset(V[k].v, 0, V[k].size * sizeof(double));
        if (scope == SCOPE_LAYER)
            projections(V, &w, t, in, p);
        core(V, &w, t, in, p, scope);
        output(V, &w, t, in, p);
        average(V, &w, t, in, p);
        FOR(k, STAGES) if (V[k].v) FOR(m, V[k].size)
            V[k].v[m] = isfinite(t[k].v[m]) && !isnan(V[k].v[m]) ? sqrt(V[k].v[m]) : 0;
    }
    free(w.Vl), free(w.Vc), free(w.Vq), free(w.Vs), free(w.sums), free(w.lean), free(w.mixed), free(w.Vmixed), free(w.u);
    free(w.k_t), free(w.Vk_t), free(w.sigma_k_t), free(w.turned_k_t), free(w.keys);
    return ok ? NULL : "not enough memory for the envelope";
}
