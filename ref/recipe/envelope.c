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

#include "envelope_product.h"
#include "envelope_row.h"
#include "two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

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

/* (L,E) each: what errors of the normalisers, and of single weights beyond their
 * channels' share, do to the output: variances summed over the heads, and sums
 * of their roots, for errors that the heads have in common. */
struct heads { double *normal, *normal_together, *moved, *moved_together; };

/* A channel of a row, to be put in order. */
struct channel { double size; size_t e; };

/* Room for the walk, cut into pieces. */
struct scratch {
    double *Vl;              /* (N,H,L): of the normalisers */
    double *Vc;              /* (N,L,E): of the mixed values, without the normalisers' part */
    double *Vq, *Vs;         /* (D) (Sx) */
    double *k;               /* (Sx,D): the keys of a head */
    double *k_t, *Vk_t, *k_together, *k_turned;    /* (D,Sx): the same, transposed */
    double *v;               /* (Sx,D): the values of a head */
    double *res_v;           /* (Sx,D): what storing them loses; 16 bits only */
    double *p;               /* (L,Sx): the weights of a head, 0 where masked */
    double *moved, *apart;   /* (L,Sx) (L,D): see struct row */
    double *keys, *lean;     /* (7,Sx) (6,D) */
    double *mixed;           /* (L,Ev): value rows mixed before they are projected */
    double *added;           /* (Sx,E): what each value row of a head would add to the output */
    double *row;             /* (3,E) */
    struct heads heads;
    double *order;           /* (E) struct channel */
    double *strip;           /* of a matrix with E, Ek, Ev or Sx rows */
    int flushed_v;           /* a weight of v_proj may become 0 */
};

static void projection(struct array *V, struct scratch *w, const struct units *u, const struct array *x, const struct array *w_t, const double *b)
{
    size_t E = w_t->shape[1], rows = x->shape[0] * x->shape[1];
    struct matrix m = columns(w_t, 0, E);

    project_loses(V->v, E, u, x->v, rows, &m, b, 1, w->strip);
    operands_lose(V->v, E, u, x->v, rows, &m, any_flushed(u, w_t->v, w_t->size), w->row);
}

static void projections(struct array V[STAGES], struct scratch *w, const struct array t[STAGES], const struct units *u)
{
    projection(&V[Q_PROJ], w, u, &t[QUERY_ROWS], &t[Q_WEIGHT_T], t[Q_BIAS].v);
    projection(&V[K_PROJ], w, u, &t[KEY_ROWS], &t[K_WEIGHT_T], t[K_BIAS].v);
    projection(&V[V_PROJ], w, u, &t[VALUE_ROWS], &t[V_WEIGHT_T], t[V_BIAS].v);
    w->flushed_v = any_flushed(u, t[V_WEIGHT_T].v, t[V_WEIGHT_T].size);
    split_heads(&V[Q_HEADS], &V[Q_PROJ]);
    split_heads(&V[K_HEADS], &V[K_PROJ]);
    split_heads(&V[V_HEADS], &V[V_PROJ]);
    for (int s = Q_HEADS; s <= V_HEADS; s++)
        FOR(m, V[s].size) V[s].v[m] = finite_or_0(V[s].v[m]);
}

/* What every row of head h of item n sees. */
static void take_head(struct scratch *w, const struct array V[STAGES], const struct array t[STAGES], const struct units *u,
                      const struct profile *p, size_t head)
{
    size_t L = t[SCORES].shape[2], Sx = t[SCORES].shape[3], D = t[K_HEADS].shape[3];
    const double *k = t[K_HEADS].v + head * Sx * D, *v = t[V_HEADS].v + head * Sx * D, *Vk = V[K_HEADS].v + head * Sx * D;
    const double *ms = t[MASKED_SCORES].v + head * L * Sx, *weights = t[ATTN_WEIGHTS].v + head * L * Sx;

    FOR(m, Sx * D) {
        w->k[m] = finite_or_0(k[m]);
        w->v[m] = finite_or_0(v[m]);
    }
    FOR(j, Sx) {
        int shown = p->smallest > 0 && !all_alike(u, w->k + j * D, D);
        FOR(d, D) {
            double x = w->k[j * D + d], lost = flushed(u, x), V_k = Vk[j * D + d] + lost * lost;
            w->k_t[d * Sx + j] = x;
            w->Vk_t[d * Sx + j] = V_k;
            common_error(&w->k_together[d * Sx + j], &w->k_turned[d * Sx + j], p, x, V_k, shown);
        }
    }
    if (p->smallest > 0) FOR(m, Sx * D) w->res_v[m] = residue(p, w->v[m]);
    FOR(m, L * Sx) w->p[m] = ms[m] == -INFINITY ? 0 : weights[m];
}

/* What value rows have in common does not average out in the mix: a weight's
 * operand rounds the same for all of them, and equal rows err equally. But a
 * mix of projected rows is the projection of the mixed row, whose error bounds
 * what is common. */
static void mix_first(double *Vc, struct scratch *w, const struct array t[STAGES], const struct mha_in *in, const struct units *u, size_t n, size_t h)
{
    size_t L = in->L, S = in->S, C = in->Ev, E = in->E, Sx = t[SCORES].shape[3], D = E / in->H;
    const double *x = t[VALUE_ROWS].v + n * S * C;
    struct matrix m = columns(&t[V_WEIGHT_T], h * D, D);

    FOR(a, L * C) w->mixed[a] = 0;
    FOR(i, L) FOR(j, S) {
        struct matrix row = { x + j * C, 1, C, C };
        if (w->p[i * Sx + j] != 0)                                            /* a masked row may hold NaN */
            row_add(w->mixed + i * C, w->p + i * Sx + j, &row);
    }
    project_loses(Vc, E, u, w->mixed, L, &m, t[V_BIAS].v ? t[V_BIAS].v + h * D : NULL, 0, w->strip);
    operands_lose(Vc, E, u, w->mixed, L, &m, w->flushed_v, w->row);
}

/* What moves all channels of a head together adds up before it is squared: an
 * error of the normaliser, and an error of one weight. Of the latter the
 * channels have had their share, as if they moved apart; where together they
 * move an output further than that, the difference counts. */
static void head_through_output(struct scratch *w, const struct array *w_t, const double *c, const double *Vl,
                                size_t h, size_t L, size_t Sx, size_t D)
{
    size_t E = w_t->shape[1];
    double *mean = w->row, *together = w->row + E, *apart = w->row + 2 * E;
    struct matrix out = { w_t->v + h * D * E, D, E, E }, added = { w->added, Sx, E, E };

    FOR(m, Sx * E) w->added[m] = 0;
    FOR(j, Sx) row_add(w->added + j * E, w->v + j * D, &out);
    FOR(i, L) {
        double sigma_l = sqrt(Vl[i]);
        FOR(e, 3 * E) w->row[e] = 0;
        row_add(mean, c + i * D, &out);
        row_add_spread(together, w->moved + i * Sx, &added, mean);
        row_add_squares(apart, w->apart + i * D, &out);
        FOR(e, E) {
            double normal = sigma_l * mean[e], moved = larger(together[e] - apart[e], 0);
            w->heads.normal[i * E + e] += normal * normal;
            w->heads.normal_together[i * E + e] += normal;
            w->heads.moved[i * E + e] += moved;
            w->heads.moved_together[i * E + e] += sqrt(moved);
        }
    }
}

/* Are the heads of row i all equal? Then their errors are. c: (H,L,D) */
static int heads_alike(const struct units *u, const double *c, size_t i, size_t H, size_t L, size_t D)
{
    FOR(h, H) FOR(d, D) if (!nearly(u, c[(h * L + i) * D + d], c[i * D + d])) return 0;
    return 1;
}

/* All heads of an item: Vout (L,E). Their normalisers may lean the same way. */
static void heads_through_output(double *Vout, const struct scratch *w, const struct units *u, const double *c,
                                 size_t H, size_t L, size_t D)
{
    const struct heads *s = &w->heads;
    size_t E = H * D;

    FOR(i, L) {
        int alike = heads_alike(u, c, i, H, L, D);
        FOR(e, E) {
            size_t m = i * E + e;
            Vout[m] += larger(s->normal[m], s->normal_together[m] * s->normal_together[m])
                     + (alike ? s->moved_together[m] * s->moved_together[m] : s->moved[m]);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const struct channel *x = a, *y = b;

    return x->size != y->size ? (x->size > y->size) - (x->size < y->size) : (x->e > y->e) - (x->e < y->e);
}

/* Channels that are equal, up to sign, err alike: where that moves an output
 * further than independent errors would, the difference counts. One row: c,
 * Vc and Vout (E). */
static void equal_channels(double *Vout, struct scratch *w, const struct units *u, const double *c, const double *Vc, const struct matrix *out)
{
    size_t E = out->n, last;
    double *together = w->row, *apart = w->row + E;
    struct channel *order = (void *)w->order;

    FOR(e, E) order[e] = (struct channel){ fabs(c[e]), e };
    qsort(order, E, sizeof *order, by_size);
    for (size_t first = 0; first < E; first = last) {
        for (last = first + 1; last < E && nearly(u, order[last].size, order[first].size);)
            last++;
        if (last - first < 2)
            continue;
        FOR(e, 2 * E) w->row[e] = 0;
        for (size_t k = first; k < last; k++) {
            size_t e = order[k].e;
            double V = Vc[e], sigma = c[e] < 0 ? -sqrt(V) : sqrt(V);
            struct matrix row = { out->w + e * out->stride, 1, E, E };
            row_add(together, &sigma, &row);
            row_add_squares(apart, &V, &row);
        }
        FOR(e, E) Vout[e] += larger(together[e] * together[e] - apart[e], 0);
    }
}

static void core(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                 const struct mha_in *in, const struct profile *p, const struct units *u, enum scope scope)
{
    size_t N = in->N, H = in->H, L = in->L, E = in->E, Sx = t[SCORES].shape[3], D = E / H;

    mask(&V[MASK], u, in);
    FOR(n, N) FOR(h, H) {
        size_t head = n * H + h, keys = head * Sx * D, rows = head * L * D, scores = head * L * Sx;
        double *Vc = w->Vc + n * L * E + h * D;
        struct matrix k = { w->k_t, D, Sx, Sx }, v = { w->v, Sx, D, D };
        if (h == 0) FOR(m, 4 * L * E) w->heads.normal[m] = 0;                 /* all four */
        take_head(w, V, t, u, p, head);
        if (scope == SCOPE_LAYER)
            mix_first(Vc, w, t, in, u, n, h);
        sums_lose(V[SCORES].v + scores, Sx, u, t[Q_HEADS].v + rows, L, &k, w->strip);
        sums_lose(Vc, E, u, w->p, L, &v, w->strip);
        FOR(i, L) {
            size_t q = rows + i * D, s = scores + i * Sx;
            struct row r = {
                .Sx = Sx, .D = D, .q = t[Q_HEADS].v + q, .k = w->k, .k_t = w->k_t, .v = w->v,
                .mask = t[MASK].v + s, .sc = t[SCORES].v + s, .ms = t[MASKED_SCORES].v + s,
                .p = w->p + i * Sx, .c = t[HEAD_OUTPUTS].v + q,
                .Vk_t = w->Vk_t, .k_together = w->k_together, .k_turned = w->k_turned, .Vv = V[V_HEADS].v + keys, .Vmask = V[MASK].v + s,
                .res_v = w->res_v, .Vsc = V[SCORES].v + s, .Vms = V[MASKED_SCORES].v + s, .Vp = V[ATTN_WEIGHTS].v + s,
                .Vc = Vc + i * E, .Vq = w->Vq, .Vs = w->Vs, .moved = w->moved + i * Sx, .apart = w->apart + i * D, .lean = w->lean, .keys = w->keys,
            };
            FOR(d, D) {
                double lost = flushed(u, r.q[d]);
                r.Vq[d] = V[Q_HEADS].v[q + d] + store(u, r.q[d]) + lost * lost;    /* kernels store the scaled q once more */
            }
            row_walk(&r, u, p);
            w->Vl[head * L + i] = r.Vl;
            FOR(d, D) V[HEAD_OUTPUTS].v[q + d] = r.Vc[d] + r.Vl * r.c[d] * r.c[d];
        }
        head_through_output(w, &t[OUT_WEIGHT_T], t[HEAD_OUTPUTS].v + rows, w->Vl + head * L, h, L, Sx, D);
        if (h == H - 1)
            heads_through_output(V[OUTPUT].v + n * L * E, w, u, t[HEAD_OUTPUTS].v + n * L * E, H, L, D);
    }
}

static void output(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                   const struct mha_in *in, const struct profile *p, const struct units *u)
{
    double *res = w->row, *moved = w->row + in->E;
    size_t E = in->E;
    struct matrix out = columns(&t[OUT_WEIGHT_T], 0, E);

    projection(&V[OUTPUT], w, u, &t[MERGED], &t[OUT_WEIGHT_T], in->out_proj_bias);
    FOR(i, in->N * in->L) {                                                   /* errors that came with the heads */
        row_add_squares(V[OUTPUT].v + i * E, w->Vc + i * E, &out);
        equal_channels(V[OUTPUT].v + i * E, w, u, t[MERGED].v + i * E, w->Vc + i * E, &out);
    }
    if (p->smallest > 0) FOR(i, in->N * in->L) {                              /* equal channels are stored equally wrong */
        FOR(e, E) {
            res[e] = residue(p, t[MERGED].v[i * E + e]);
            moved[e] = 0;
        }
        row_add(moved, res, &out);
        FOR(e, E) V[OUTPUT].v[i * E + e] += moved[e] * moved[e];
    }
}

/* Equal heads err alike: their errors are added before they are squared. Takes
 * the weights without the normalisers' part, and adds it. */
static void average(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
                    const struct mha_in *in, const struct units *u)
{
    size_t N = in->N, H = in->H, L = in->L, Sx = t[SCORES].shape[3];

    FOR(n, N) FOR(i, L) FOR(j, Sx) {
        double mean = t[ATTN_WEIGHTS_MEAN].v[(n * L + i) * Sx + j], own = 0, common = 0;
        size_t open = 0;
        FOR(h, H) {
            size_t m = ((n * H + h) * L + i) * Sx + j;
            double pw = t[ATTN_WEIGHTS].v[m], Vl = w->Vl[(n * H + h) * L + i];
            if (t[MASKED_SCORES].v[m] == -INFINITY)
                continue;
            own += sqrt(V[ATTN_WEIGHTS].v[m]);
            common += pw * sqrt(Vl);
            V[ATTN_WEIGHTS].v[m] += pw * pw * Vl;
            open++;
        }
        V[ATTN_WEIGHTS_MEAN].v[(n * L + i) * Sx + j] = (own * own + common * common) / (double)(H * H)
            + u->U * mean * mean * (double)(H + 1) + (open ? store(u, mean) : 0);
    }
}

/* These round; the others only rearrange numbers, most of them exact, and their sigma stays 0. */
static const enum mha_stage rounding[] = { Q_PROJ, K_PROJ, V_PROJ, MASK, SCORES, MASKED_SCORES, ATTN_WEIGHTS, HEAD_OUTPUTS, OUTPUT,
                                           ATTN_WEIGHTS_MEAN };
static const enum mha_stage rearranging[] = { Q_HEADS, K_HEADS, V_HEADS };
static const enum mha_stage added_to[] = { Q_PROJ, K_PROJ, V_PROJ, MASK, SCORES, OUTPUT };    /* the others are written */

TWO_SPEEDS
static void root(struct array *V, const struct array *t)
{
    FOR(m, V->size) {
        double v = V->v[m], size = fabs(t->v[m]);
        V->v[m] = ((size < INFINITY) & (v >= 0)) ? sqrt(v) : 0;               /* 0 where the stage is not finite */
    }
}

/* From variances to sigma. */
static void roots(struct array V[STAGES], const struct array t[STAGES])
{
    size_t N = t[MERGED].shape[0], L = t[MERGED].shape[1], E = t[MERGED].shape[2], H = t[HEAD_OUTPUTS].shape[1], D = t[HEAD_OUTPUTS].shape[3];

    FOR(k, sizeof rounding / sizeof *rounding) root(&V[rounding[k]], &t[rounding[k]]);
    FOR(k, sizeof rearranging / sizeof *rearranging) split_heads(&V[rearranging[k]], &V[rearranging[k] - Q_HEADS + Q_PROJ]);
    FOR(n, N) FOR(h, H) FOR(i, L) FOR(d, D) V[MERGED].v[(n * L + i) * E + h * D + d] = V[HEAD_OUTPUTS].v[((n * H + h) * L + i) * D + d];
}

static void clear(struct array *V)
{
    FOR(m, V->size) V->v[m] = 0;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

const char *envelope(struct array V[STAGES], const struct array t[STAGES],
                     const struct mha_in *in, const struct profile *p, enum scope scope)
{
    struct units u = units_of(p);
    size_t N = in->N, H = in->H, L = in->L, E = in->E, D = E / H, Sx = t[SCORES].shape[3];
    struct scratch w;
    struct { double **at; size_t count; } pieces[] = {
        { &w.Vl, N * H * L }, { &w.Vc, N * L * E }, { &w.Vq, D }, { &w.Vs, Sx },
        { &w.k, Sx * D }, { &w.k_t, D * Sx }, { &w.Vk_t, D * Sx }, { &w.k_together, D * Sx }, { &w.k_turned, D * Sx },
        { &w.v, Sx * D }, { &w.res_v, Sx * D }, { &w.p, L * Sx }, { &w.moved, L * Sx }, { &w.apart, L * D },
        { &w.keys, 7 * Sx }, { &w.lean, 6 * D }, { &w.mixed, L * in->Ev }, { &w.added, Sx * E }, { &w.row, 3 * E },
        { &w.heads.normal, L * E }, { &w.heads.normal_together, L * E }, { &w.heads.moved, L * E }, { &w.heads.moved_together, L * E },
        { &w.order, E * sizeof(struct channel) / sizeof(double) },
        { &w.strip, most(most(E, Sx), most(in->Ek, in->Ev)) * STRIP },
    };
    size_t count = 1;

    FOR(k, sizeof pieces / sizeof *pieces) count += pieces[k].count;
    double *room = calloc(count, sizeof *room), *next = room;
    if (!room)
        return "not enough memory for the envelope";
    FOR(k, sizeof pieces / sizeof *pieces) {
        *pieces[k].at = next;
        next += pieces[k].count;
    }
    FOR(k, sizeof added_to / sizeof *added_to) clear(&V[added_to[k]]);
    if (scope == SCOPE_LAYER)
        projections(V, &w, t, &u);
    core(V, &w, t, in, p, &u, scope);
    output(V, &w, t, in, p, &u);
    average(V, &w, t, in, &u);
    roots(V, t);
    free(room);
    return NULL;
}
