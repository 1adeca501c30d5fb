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
#include <stdint.h>
#include <stdlib.h>

#include "row.h"
#include "walk.h"
#include "../recipe/two_speeds.h"

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

static void projections(struct array V[STAGES], struct scratch *w, const struct array t[STAGES], const struct units *u)
{
    w->flushed_v = any_flushed(u, &t[V_WEIGHT_T]);
    projection(&V[Q_PROJ], w, u, &t[QUERY_ROWS], &t[Q_WEIGHT_T], t[Q_BIAS].v, any_flushed(u, &t[Q_WEIGHT_T]));
    projection(&V[K_PROJ], w, u, &t[KEY_ROWS], &t[K_WEIGHT_T], t[K_BIAS].v, any_flushed(u, &t[K_WEIGHT_T]));
    projection(&V[V_PROJ], w, u, &t[VALUE_ROWS], &t[V_WEIGHT_T], t[V_BIAS].v, w->flushed_v);
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
    const double *q = t[Q_HEADS].v + head * L * D, *k = t[K_HEADS].v + head * Sx * D, *v = t[V_HEADS].v + head * Sx * D;
    const double *Vq = V[Q_HEADS].v + head * L * D, *Vk = V[K_HEADS].v + head * Sx * D, *Vv = V[V_HEADS].v + head * Sx * D;
    const double *ms = t[MASKED_SCORES].v + head * L * Sx, *weights = t[ATTN_WEIGHTS].v + head * L * Sx;

    FOR(m, L * D) {
        double lost = flushed(u, q[m]);
        w->Vq[m] = Vq[m] + store(u, q[m]) + lost * lost;                      /* kernels store the scaled q once more */
    }
    FOR(m, L * D) w->q_sigma[m] = copysign(sqrt(w->Vq[m] + u->O * q[m] * q[m]), q[m]);
    FOR(m, Sx * D) {
        w->k[m] = finite_or_0(k[m]);
        w->v[m] = finite_or_0(v[m]);
    }
    FOR(j, Sx) FOR(d, D) {
        double x = w->k[j * D + d], lost = flushed(u, x);
        w->k_t[d * Sx + j] = x;
        w->Vk_t[d * Sx + j] = Vk[j * D + d] + lost * lost;
    }
    alike_rows(&w->equal_keys, &w->search, w->k, Vk, Sx, D);
    alike_rows(&w->equal_values, &w->search, w->v, Vv, Sx, D);
    if (w->equal_values.count) FOR(m, Sx * D) w->sigma_v[m] = sqrt(Vv[m] + u->O * w->v[m] * w->v[m]);
    if (p->smallest > 0) FOR(m, Sx * D) {
        w->res_v[m] = residue(p, w->v[m]);
        w->res_k_t[m] = residue(p, w->k_t[m]);
    }
    FOR(m, L * Sx) w->p[m] = ms[m] == -INFINITY ? 0 : weights[m];
    common_errors(w->q_together, w->q_turned, q, w->Vq, L * D);
    FOR(i, L) if (shows_errors(u, p, q + i * D, D))
        FOR(d, D) w->q_together[i * D + d] = w->q_turned[i * D + d] = residue(p, q[i * D + d]);
    common_errors(w->k_together, w->k_turned, w->k_t, w->Vk_t, D * Sx);
    FOR(j, Sx) if (shows_errors(u, p, w->k + j * D, D))
        FOR(d, D) w->k_together[d * Sx + j] = w->k_turned[d * Sx + j] = residue(p, w->k[j * D + d]);
}

/* What value rows have in common does not average out in the mix: a weight's
 * operand rounds the same for all of them, and equal rows err equally. But a
 * mix of projected rows is the projection of the mixed row, whose error bounds
 * what is common. */
static void mix_first(double *Vc, struct scratch *w, const struct array t[STAGES], const struct mha_in *in, const struct units *u, size_t n, size_t h)
{
    size_t L = in->L, S = in->S, C = in->Ev, E = in->E, Sx = t[SCORES].shape[3], D = E / in->H;
    struct matrix m = columns(&t[V_WEIGHT_T], h * D, D), x = { w->x, S, C, C };

    if (h == 0) FOR(a, S * C) w->x[a] = finite_or_0(t[VALUE_ROWS].v[n * S * C + a]);    /* a masked row may hold NaN */
    FOR(a, L * C) w->mixed[a] = 0;
    FOR(i, L) row_add(w->mixed + i * C, w->p + i * Sx, &x);
    project_loses(Vc, E, u, w->mixed, L, &m, t[V_BIAS].v ? t[V_BIAS].v + h * D : NULL, 0, w->strip);
    operands_lose(Vc, E, u, w->mixed, L, &m, w->flushed_v, w->row);
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
        if (h == 0) FOR(m, L * E)
            w->heads.normal[m] = w->heads.normal_together[m] = w->heads.moved[m] = w->heads.moved_together[m] = 0;
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
                .Vq = w->Vq + i * D, .q_together = w->q_together + i * D, .q_turned = w->q_turned + i * D,
                .Vc = Vc + i * E, .Vs = w->Vs, .moved = w->moved + i * Sx, .apart = w->apart + i * D, .lean = w->lean, .keys = w->keys,
                .q_sigma = w->q_sigma + i * D, .sigma_v = w->sigma_v, .equal_keys = &w->equal_keys, .equal_values = &w->equal_values,
                .equal_scores = &w->equal_scores, .equal_channels = &w->equal_channels, .search = &w->search,
                .patterns = w->patterns, .pattern_keys = w->pattern_keys, .sigma_keys = w->sigma_keys + i * Sx,
                .res_k_t = w->res_k_t,
            };
            alike_channels(&w->equal_channels, &w->search, u, r.q, D);
            row_walk(&r, u, p);
            w->sigma_l[head * L + i] = sqrt(r.Vl);
            FOR(d, D) V[HEAD_OUTPUTS].v[q + d] = r.Vc[d] + r.Vl * r.c[d] * r.c[d];
        }
        head_through_output(w, &t[OUT_WEIGHT_T], t[HEAD_OUTPUTS].v + rows, w->sigma_l + head * L, h, L, Sx, D);
        if (h == H - 1)
            heads_through_output(V[OUTPUT].v + n * L * E, w, u, t[HEAD_OUTPUTS].v + n * L * E, H, L, D);
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

/* Room for count numbers, in whole cache lines. */
static size_t lines(size_t count)
{
    size_t line = CACHE_LINE / sizeof(double);

    return (count / line + 1) * line;
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
        { &w.sigma_l, N * H * L }, { &w.Vc, N * L * E }, { &w.Vs, Sx },
        { &w.Vq, L * D }, { &w.q_together, L * D }, { &w.q_turned, L * D },
        { &w.k, Sx * D }, { &w.k_t, D * Sx }, { &w.Vk_t, D * Sx }, { &w.k_together, D * Sx }, { &w.k_turned, D * Sx },
        { &w.v, Sx * D }, { &w.res_v, Sx * D }, { &w.p, L * Sx }, { &w.moved, L * Sx }, { &w.apart, L * D },
        { &w.keys, 7 * Sx }, { &w.lean, 6 * D },
        { &w.q_sigma, L * D }, { &w.sigma_v, Sx * D }, { &w.patterns, PATTERNS * D }, { &w.pattern_keys, 2 * Sx },
        { &w.sigma_keys, L * Sx }, { &w.res_k_t, D * Sx }, { &w.search.key, most(Sx, D) }, { &w.x, in->S * in->Ev }, { &w.mixed, L * in->Ev }, { &w.added, Sx * E }, { &w.row, 6 * E },
        { &w.heads.normal, L * E }, { &w.heads.normal_together, L * E }, { &w.heads.moved, L * E }, { &w.heads.moved_together, L * E },
        { &w.strip, most(most(E, Sx), most(in->Ek, in->Ev)) * STRIP },
    };
    struct groups *groups[] = { &w.equal_keys, &w.equal_values, &w.equal_scores, &w.equal_channels };
    size_t count = 0, things = most(Sx, D), slots = alike_slots(things);
    size_t *index = calloc(12 * (things + 1) + things + slots, sizeof *index), *after = index;

    FOR(k, sizeof pieces / sizeof *pieces) count += lines(pieces[k].count);
    double *room = count > SIZE_MAX / sizeof *room ? NULL : aligned_alloc(CACHE_LINE, count * sizeof *room), *next = room;
    if (!room || !index) {
        free(room);
        free(index);
        return "not enough memory for the envelope";
    }
    FOR(k, 4) {
        *groups[k] = (struct groups){ 0, after, after + things + 1, after + 2 * (things + 1) };
        after += 3 * (things + 1);
    }
    w.search.chain = after;
    w.search.slot = after + things;
    FOR(k, sizeof pieces / sizeof *pieces) {
        *pieces[k].at = next;
        next += lines(pieces[k].count);
    }
    FOR(k, sizeof added_to / sizeof *added_to) clear(&V[added_to[k]]);
    FOR(m, N * L * E) w.Vc[m] = 0;
    if (scope == SCOPE_LAYER)
        projections(V, &w, t, &u);
    core(V, &w, t, in, p, &u, scope);
    output(V, &w, t, in, p, &u);
    average(V, &w, t, in, &u);
    roots(V, t);
    free(room);
    free(index);
    return NULL;
}
