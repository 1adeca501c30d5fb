/* SPDX-License-Identifier: MIT */
/*
 * The envelope from the heads to the output and to the mean of the weights.
 *
 * Letters: n batch item, h head, i query row, j key row, e channel of the
 * model, d channel of a head, k place in an order, m element of a whole array.
 */
#include <math.h>
#include <stdlib.h>

#include "envelope_walk.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* What moves all channels of a head together adds up before it is squared: an
 * error of the normaliser, and an error of one weight. Of the latter the
 * channels have had their share, as if they moved apart; where together they
 * move an output further than that, the difference counts. */
void head_through_output(struct scratch *w, const struct array *w_t, const double *c, const double *Vl,
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
void heads_through_output(double *Vout, const struct scratch *w, const struct units *u, const double *c,
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

void output(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
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

/* Equal heads err alike: their errors are added before they are squared. */
void average(struct array V[STAGES], struct scratch *w, const struct array t[STAGES],
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
