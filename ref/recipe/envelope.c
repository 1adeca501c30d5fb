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
 * e channel of the model, d and a channels of a head, c channel of what comes
 * in, m element of a whole array. V of a number is its variance.
 */
#include "envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)
#define MAX(a, b) fmax(a, b)

/* What a stored number loses: nothing, except in the 16-bit profiles. */
static double residue(const struct profile *p, double x)
{
    double r = p->smallest > 0 ? profile_round(p, x) - x : 0;
    return isfinite(r) ? r : 0;
}

/* A third of the squared roundoffs: of the accumulator, of storage, of operands. */
struct units { double U, T, O, floor; };

static struct units units_of(const struct profile *p)
{
    return (struct units){ p->u * p->u / 3, p->s * p->s / 3, p->o * p->o / 3, p->floor };
}

/* Rounded to 16 bits on its way to memory. */
static double store(const struct units *u, double y)
{
    return u->T > 0 ? u->T * MAX(y * y, u->floor * u->floor) : 0;
}

/* ---- a dot product, y = sum of terms ---- */

/* What a sum of terms tells of its rounding: P are its partial sums. */
struct sums { double y, terms2, partial2, partial, size; };

static void sums_add(struct sums *s, double term)
{
    s->y += term;
    s->terms2 += term * term;
    s->partial2 += s->y * s->y;
    s->partial += fabs(s->y);
    s->size += fabs(term);
}

/* Many sums side by side, each quantity in a row of its own: that is what makes
 * the loop below fast. */
struct sums_row { double *y, *terms2, *partial2, *partial, *size; };

static struct sums_row sums_row(double *room, size_t n)
{
    FOR(m, 5 * n) room[m] = 0;
    return (struct sums_row){ room, room + n, room + 2 * n, room + 3 * n, room + 4 * n };
}

/* One more term for each: a w. */
static void sums_row_add(struct sums_row *s, size_t n, double a, const double *restrict w)
{
    double *restrict y = s->y, *restrict terms2 = s->terms2, *restrict partial2 = s->partial2;
    double *restrict partial = s->partial, *restrict size = s->size;

    FOR(e, n) {
        double term = a * w[e];
        y[e] += term;
        terms2[e] += term * term;
        partial2[e] += y[e] * y[e];
        partial[e] += fabs(y[e]);
        size[e] += fabs(term);
    }
}

static struct sums sums_row_at(const struct sums_row *s, size_t e)
{
    return (struct sums){ s->y[e], s->terms2[e], s->partial2[e], s->partial[e], s->size[e] };
}

/* The squared length of the rounding errors of a sum of count terms and an
 * addend b, in squared unit roundoffs: the worst of four ways to go about it. */
static double rounding(const struct sums *s, double count, double b)
{
    double y = s->y, yb = y + b;
    double any = count * MAX(MAX(s->terms2, y * y), MAX(b * b, yb * yb));     /* one rounding a term; the bias first or last */
    double natural = s->partial2;                                             /* long sums that cancel */
    double lean = s->partial + count * fabs(b);                               /* errors that all lean one way: */
    lean = lean * lean / 16;                                                  /*   truncating adders, equal terms */
    double order = count * s->size * s->size / 48;                            /* any other order of summation */
    return MAX(MAX(any, natural), MAX(lean, order));
}

/* Terms that are rounded products of rounded operands, then summed. */
static double summed(const struct units *u, const struct sums *s, double count, double b)
{
    return 2 * u->O * MAX(s->terms2, s->y * s->y) + u->U * rounding(s, count, b);
}

/* ---- project: y = x @ w_t + b, the weights exact, Vx NULL where x is exact too ---- */

static void project(double *V, const struct units *u, const double *x, const double *Vx, size_t rows,
                    const struct array *w_t, const double *b, double *room)
{
    size_t C = w_t->shape[0], E = w_t->shape[1];

    FOR(t, rows) {
        double *out = V + t * E;
        struct sums_row s = sums_row(room, E);
        FOR(e, E) out[e] = 0;
        FOR(c, C) {
            double a = x[t * C + c];
            const double *w = w_t->v + c * E;
            sums_row_add(&s, E, a, w);
            if (Vx) FOR(e, E) out[e] += Vx[t * C + c] * w[e] * w[e];          /* errors of x, weighed */
        }
        FOR(e, E) {
            struct sums one = sums_row_at(&s, e);
            double bias = b ? b[e] : 0, y = one.y + bias;
            out[e] += summed(u, &one, (double)C, bias) + store(u, y);
            if (b) out[e] += u->U * y * y;                                    /* one more addition */
        }
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

/* ---- one query of one head ---- */

/* Where the walk is: everything of one row. j < Sx, d < D. */
struct row {
    size_t Sx, D;
    const double *q, *k, *v;                    /* (D) (Sx,D) (Sx,D) */
    const double *sc, *ms, *p, *c;              /* scores, masked scores, weights (Sx); mixed values (D) */
    const double *Vk, *Vv, *Vmask;              /* (Sx,D) (Sx,D) (Sx) */
    double *Vsc, *Vms, *Vp, *Vc;                /* to fill; Vc without what the normaliser does */
    double *Vq;                                 /* (D), as the scores see it */
    double *Vs;                                 /* (Sx), as the softmax sees it */
    double Vl;                                  /* relative, of the normaliser: common to the row */
    double *sums;                               /* (5,D): room for what mix() adds up */
    double *lean;                               /* (6,D) */
    double *common;                             /* (D,D) */
};

static int masked(const struct row *r, size_t j)
{
    return r->ms[j] == -INFINITY;
}

/* q k^T / sqrt(D), then + mask. */
static void score(struct row *r, const struct units *u)
{
    double D = (double)r->D;

    FOR(j, r->Sx) {
        struct sums s = { 0 };
        double V = 0;
        FOR(d, r->D) {
            double q = r->q[d], k = r->k[j * r->D + d], Vk = r->Vk[j * r->D + d];
            sums_add(&s, q * k);
            V += r->Vq[d] * k * k + q * q * Vk + r->Vq[d] * Vk;
        }
        double y = r->sc[j], z = r->ms[j];
        r->Vsc[j] = (V + summed(u, &s, D, 0)) / D + 2 * u->U * y * y + store(u, y);    /* the scale is rounded, and multiplies */
        r->Vms[j] = masked(r, j) ? 0 : r->Vsc[j] + r->Vmask[j] + u->U * z * z + store(u, z);
    }
}

static void softmax(struct row *r, const struct units *u)
{
    double Sx = (double)r->Sx, max = -INFINITY, sum = 0, partial = 0, lambda = 0, mean = 0;

    FOR(j, r->Sx) if (!masked(r, j)) max = MAX(max, r->ms[j]);
    FOR(j, r->Sx) if (!masked(r, j)) sum += exp(r->ms[j] - max);
    FOR(j, r->Sx) {
        partial += masked(r, j) ? 0 : r->p[j];
        lambda += partial;
    }
    lambda = MAX(lambda, Sx - lambda);
    double lse = max + log(sum);
    r->Vl = u->U * (16 + MAX(Sx, lambda * lambda / 16))                       /* the sum, in any order; its reciprocal */
          + 2 * u->U * MAX(max * max, lse * lse);                             /* exp(s - lse): the shift is rounded */
    if (max == -INFINITY)
        r->Vl = 0;                                                            /* nothing to normalise */

    FOR(j, r->Sx) {
        double shift = r->ms[j] - max;
        r->Vs[j] = masked(r, j) ? 0 : r->Vms[j] + 2 * u->U * shift * shift;   /* the argument of exp is rounded, and scaled to base 2 */
        mean += masked(r, j) ? 0 : r->p[j] * r->p[j] * r->Vs[j];
    }
    FOR(j, r->Sx) {
        double p = r->p[j];
        r->Vp[j] = masked(r, j) ? 0
                 : p * p * MAX(0, (1 - 2 * p) * r->Vs[j] + mean)              /* errors of the scores */
                 + p * p * (r->Vl + 16 * u->U) + store(u, p);                 /* of the normaliser; of exp itself */
    }
}

/* c = sum of p v. Centred: what moves all values of a row together moves nothing. */
static void mix(struct row *r, const struct units *u, const struct profile *pr)
{
    size_t D = r->D, Sx = r->Sx;
    double mean_ms = 0, mean_sc = 0;
    double *scale = r->lean, *scale_sc = r->lean + D, *res_p = r->lean + 2 * D, *res_v = r->lean + 3 * D, *res_s = r->lean + 4 * D;
    double *off = r->lean + 5 * D;
    struct sums_row sums = sums_row(r->sums, D);

    FOR(d, D) r->Vc[d] = 0;
    FOR(d, 5 * D) r->lean[d] = 0;
    FOR(d, D * D) r->common[d] = 0;
    FOR(j, Sx) if (!masked(r, j)) mean_ms += r->p[j] * r->ms[j];
    FOR(j, Sx) if (!masked(r, j) && isfinite(r->sc[j])) mean_sc += r->p[j] * r->sc[j];

    FOR(j, Sx) {
        double p = masked(r, j) ? 0 : r->p[j];
        const double *v = r->v + j * D, *k = r->k + j * D;
        if (masked(r, j)) {
            FOR(d, D) sums.partial2[d] += sums.y[d] * sums.y[d];              /* a term of 0 */
            FOR(d, D) sums.partial[d] += fabs(sums.y[d]);
            continue;
        }
        double rp = residue(pr, p), rs = residue(pr, r->ms[j]);
        double ms = r->ms[j] - mean_ms, sc = isfinite(r->sc[j]) ? r->sc[j] - mean_sc : 0;
        sums_row_add(&sums, D, p, v);
        FOR(d, D) off[d] = v[d] - r->c[d];
        FOR(d, D) {
            r->Vc[d] += p * p * r->Vs[j] * off[d] * off[d]                    /* errors of the scores */
                      + (16 * u->U + u->T) * p * p * v[d] * v[d]              /* of exp, and of storing the weight */
                      + p * p * r->Vv[j * D + d];                             /* of the values */
            scale[d] += p * ms * off[d];
            scale_sc[d] += p * sc * off[d];
        }
        if (pr->smallest > 0) FOR(d, D) {
            res_p[d] += rp * off[d];
            res_v[d] += p * residue(pr, v[d]);
            res_s[d] += p * rs * off[d];
        }
        FOR(a, D) {
            double pk = p * k[a], *common = r->common + a * D;
            FOR(d, D) common[d] += pk * off[d];
        }
    }
    FOR(d, D) {
        double V = r->Vc[d], s = MAX(fabs(scale[d]), fabs(scale_sc[d]));
        FOR(a, D) V += r->Vq[a] / (double)D * r->common[a * D + d] * r->common[a * D + d];    /* an error in q is common to all keys */
        V += 2 * MAX(u->U, u->O) * s * s;                                                     /* so is one in the scale */
        V += res_p[d] * res_p[d] + res_v[d] * res_v[d] + res_s[d] * res_s[d];                 /* equal numbers round alike */
        struct sums one = sums_row_at(&sums, d);
        r->Vc[d] = V + summed(u, &one, (double)Sx, 0) + store(u, r->c[d]);
    }
}

/* ---- the parts ---- */

/* Scratch for the walk: one block, cut into pieces. */
struct scratch { double *Vl, *Vc, *Vq, *Vs, *common, *lean, *sums; };

static void projections(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                        const struct mha_in *in, const struct profile *p)
{
    struct units u = units_of(p);
    size_t N = in->N, L = in->L, S = in->S;

    project(V[Q_PROJ].v, &u, t[QUERY_ROWS].v, NULL, N * L, &t[Q_WEIGHT_T], t[Q_BIAS].v, w->sums);
    project(V[K_PROJ].v, &u, t[KEY_ROWS].v, NULL, N * S, &t[K_WEIGHT_T], t[K_BIAS].v, w->sums);
    project(V[V_PROJ].v, &u, t[VALUE_ROWS].v, NULL, N * S, &t[V_WEIGHT_T], t[V_BIAS].v, w->sums);
    split_heads(&V[Q_HEADS], &V[Q_PROJ]);
    split_heads(&V[K_HEADS], &V[K_PROJ]);
    split_heads(&V[V_HEADS], &V[V_PROJ]);
}

static void core(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                        const struct mha_in *in, const struct profile *p)
{
    struct units u = units_of(p);
    size_t N = in->N, H = in->H, L = in->L, Sx = t[SCORES].shape[3], D = t[Q_HEADS].shape[3];

    mask(&V[MASK], &u, in);
    FOR(n, N) FOR(h, H) FOR(i, L) {
        size_t head = n * H + h, q = (head * L + i) * D, s = (head * L + i) * Sx, k = head * Sx * D;
        struct row r = {
            Sx, D, t[Q_HEADS].v + q, t[K_HEADS].v + k, t[V_HEADS].v + k,
            t[SCORES].v + s, t[MASKED_SCORES].v + s, t[ATTN_WEIGHTS].v + s, t[HEAD_OUTPUTS].v + q,
            V[K_HEADS].v + k, V[V_HEADS].v + k, V[MASK].v + s,
            V[SCORES].v + s, V[MASKED_SCORES].v + s, V[ATTN_WEIGHTS].v + s, w->Vc + (n * L + i) * in->E + h * D,
            w->Vq, w->Vs, 0, w->sums, w->lean, w->common,
        };
        FOR(d, D) r.Vq[d] = V[Q_HEADS].v[q + d] + store(&u, r.q[d]);          /* kernels store the scaled q once more */
        score(&r, &u);
        softmax(&r, &u);
        mix(&r, &u, p);
        w->Vl[head * L + i] = r.Vl;
        FOR(d, D) V[HEAD_OUTPUTS].v[q + d] = r.Vc[d] + r.Vl * r.c[d] * r.c[d];
        FOR(d, D) V[MERGED].v[(n * L + i) * in->E + h * D + d] = V[HEAD_OUTPUTS].v[q + d];
    }
}

/* An error of the normaliser moves all channels of its head together. */
static void output(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                   const struct mha_in *in, const struct profile *p)
{
    struct units u = units_of(p);
    size_t N = in->N, H = in->H, L = in->L, E = in->E, D = E / H, Sx = t[SCORES].shape[3];

    project(V[OUTPUT].v, &u, t[MERGED].v, w->Vc, N * L, &t[OUT_WEIGHT_T], in->out_proj_bias, w->sums);
    FOR(n, N) FOR(i, L) FOR(h, H) {
        const double *c = t[MERGED].v + (n * L + i) * E + h * D, *w_t = t[OUT_WEIGHT_T].v + h * D * E;
        double Vl = w->Vl[(n * H + h) * L + i];
        double *head = w->lean;                                               /* (E): what this head adds to each output */
        FOR(e, E) head[e] = 0;
        FOR(d, D) FOR(e, E) head[e] += c[d] * w_t[d * E + e];
        FOR(e, E) V[OUTPUT].v[(n * L + i) * E + e] += Vl * head[e] * head[e];
    }
    FOR(n, N) FOR(i, L) FOR(j, Sx) {
        double mean = t[ATTN_WEIGHTS_MEAN].v[(n * L + i) * Sx + j], own = 0, common = 0;
        size_t open = 0;
        FOR(h, H) {
            size_t m = ((n * H + h) * L + i) * Sx + j;
            double pw = t[ATTN_WEIGHTS].v[m], Vl = w->Vl[(n * H + h) * L + i];
            if (t[MASKED_SCORES].v[m] == -INFINITY)
                continue;
            own += MAX(0, V[ATTN_WEIGHTS].v[m] - pw * pw * Vl);
            common += pw * sqrt(Vl);
            open++;
        }
        V[ATTN_WEIGHTS_MEAN].v[(n * L + i) * Sx + j] = (own + common * common) / (double)(H * H)
            + u.U * mean * mean * (double)(H + 1) + (open ? store(&u, mean) : 0);
    }
}

static size_t largest(size_t a, size_t b)
{
    return a > b ? a : b;
}

const char *envelope(struct array V[STAGES], const struct array t[STAGES],
                     const struct mha_in *in, const struct profile *p, enum scope scope)
{
    size_t N = in->N, H = in->H, L = in->L, E = in->E, D = E / H, Sx = t[SCORES].shape[3];
    size_t rows = N * H * L, wide = largest(E, 6 * D);
    struct scratch w = {
        .Vl = calloc(largest(rows, 1), sizeof(double)), .Vc = calloc(largest(rows * D, 1), sizeof(double)),
        .Vq = calloc(D, sizeof(double)), .Vs = calloc(largest(Sx, 1), sizeof(double)),
        .common = calloc(D, D * sizeof(double)), .lean = calloc(wide, sizeof(double)),
        .sums = calloc(E, 5 * sizeof(double)),
    };
    int ok = w.Vl && w.Vc && w.Vq && w.Vs && w.common && w.lean && w.sums;

    if (ok) {
        FOR(k, STAGES) if (V[k].v) memset(V[k].v, 0, V[k].size * sizeof(double));
        if (scope == SCOPE_LAYER)
            projections(V, &w, t, in, p);
        core(V, &w, t, in, p);
        output(V, &w, t, in, p);
        FOR(k, STAGES) if (V[k].v) FOR(m, V[k].size)
            V[k].v[m] = isfinite(t[k].v[m]) && !isnan(V[k].v[m]) ? sqrt(V[k].v[m]) : 0;
    }
    free(w.Vl), free(w.Vc), free(w.Vq), free(w.Vs), free(w.common), free(w.lean), free(w.sums);
    return ok ? NULL : "not enough memory for the envelope";
}

/* ---- can the profile decide at all? ---- */

/* Some key might overtake the largest, and its score is too blurred for the
 * first-order walk above: 8 sigma of the two scores do not keep them apart
 * until the smaller one's weight is below the floor. */
static int undetermined(const double *ms, const double *sigma, size_t Sx, const struct profile *p)
{
    size_t top = 0;

    FOR(j, Sx) if (ms[j] > ms[top]) top = j;
    FOR(j, Sx) {
        double blur = 0, behind = ms[top] - ms[j];
        blur = sqrt(sigma[j] * sigma[j] + sigma[top] * sigma[top] + 2 * p->u * p->u / 3 * behind * behind);
        if (j != top && isfinite(behind) && blur > 0.25 && behind - ENVELOPE_SIGMAS * blur < -log(p->floor))
            return 1;
    }
    return 0;
}

const char *envelope_applies(const struct array sigma[STAGES], const struct array t[STAGES], const struct profile *p)
{
    static const enum mha_stage kept[] = { Q_PROJ, K_PROJ, V_PROJ, SCORES, MASKED_SCORES, HEAD_OUTPUTS, OUTPUT };
    size_t Sx = t[SCORES].shape[3], rows = t[SCORES].shape[0] * t[SCORES].shape[1] * t[SCORES].shape[2];

    FOR(k, sizeof kept / sizeof *kept) FOR(m, t[kept[k]].size)
        if (isfinite(t[kept[k]].v[m]) && fabs(t[kept[k]].v[m]) > p->largest)
            return "a number leaves the range of the type";
    FOR(i, rows)
        if (Sx && undetermined(t[MASKED_SCORES].v + i * Sx, sigma[MASKED_SCORES].v + i * Sx, Sx, p))
            return "rounding of the scores leaves the softmax undetermined";
    return NULL;
}
