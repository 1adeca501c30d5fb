/* SPDX-License-Identifier: MIT */
/*
 * The envelope from the heads to the output and to the mean of the weights.
 *
 * Letters: n batch item, h head, i query row, j key row, e channel of the
 * model, d channel of a head, k place in an order, m element of a whole array.
 */
#include <math.h>
#include <stdlib.h>

#include "walk.h"
#include "../recipe/two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* One row of one head; (E) each. Nine parameters because restrict,
 * which lets the compiler vectorise the loop, works on parameters only. */
TWO_SPEEDS
static void add_head(double *restrict normal2, double *restrict normal1, double *restrict moved2, double *restrict moved1,
                     const double *restrict mean, const double *restrict together, const double *restrict apart, double sigma_l, size_t E)
{
    FOR(e, E) {
        double normal = sigma_l * mean[e], moved = larger(together[e] - apart[e], 0);
        normal2[e] += normal * normal;
        normal1[e] += normal;
        moved2[e] += moved;
        moved1[e] += sqrt(moved);
    }
}

/* What moves all channels of a head together adds up before it is squared: an
 * error of the normaliser, and an error of one weight. Of the latter the
 * channels have had their share, as if they moved apart; where together they
 * move an output further than that, the difference counts. */
void head_through_output(struct scratch *w, const struct array *w_t, const double *c, const double *sigma_l,
                         size_t h, size_t L, size_t Sx, size_t D)
{
    size_t E = w_t->shape[1];
    double *mean = w->row, *together = w->row + E, *apart = w->row + 2 * E, *excess = w->row + 3 * E;
    struct matrix out = { w_t->v + h * D * E, D, E, E }, added = { w->added, Sx, E, E };

    FOR(m, Sx * E) w->added[m] = 0;
    FOR(j, Sx) row_add(w->added + j * E, w->v + j * D, &out);
    FOR(i, L) {
        FOR(e, 3 * E) w->row[e] = 0;
        row_add(mean, c + i * D, &out);
        row_add_spread(together, w->moved + i * Sx, &added, mean);
        row_add_squares(apart, w->apart + i * D, &out);
        if (w->equal_keys.count) {
            alike_excess(excess, excess + E, &w->equal_keys, w->sigma_keys + i * Sx, &added, mean);
            FOR(e, E) together[e] += excess[e];
        }
        add_head(w->heads.normal + i * E, w->heads.normal_together + i * E, w->heads.moved + i * E, w->heads.moved_together + i * E,
                 mean, together, apart, sigma_l[i], E);
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

/* Might two of the sizes (E) be nearly equal? least: what each has to reach to
 * equal the other. Half as many pairs as a row of the output has products, but
 * nothing to guess, as there is in sorting. */
TWO_SPEEDS
static int some_alike(const double *restrict size, const double *restrict least, size_t E)
{
    size_t found = 0;

    FOR(e, E) {
        double own = size[e], own_least = least[e];
        for (size_t k = e + 1; k < E; k++) found += (size[k] >= own_least) & (least[k] <= own);
    }
    return found > 0;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Channels that are equal, up to sign, err alike: where that moves an output
 * further than independent errors would, the difference counts. One row: c,
 * Vc and Vout (E). */
static void equal_channels(double *Vout, struct scratch *w, const struct units *u, const double *c, const double *Vc, const struct matrix *out)
{
    size_t E = out->n, last;
    double *together = w->row, *apart = w->row + E, *least = w->row, *sizes = w->row + 2 * E;

    FOR(e, E) {
        sizes[e] = finite_or_0(fabs(c[e]));
        least[e] = (1 - 2 * u->near) * sizes[e];
    }
    if (!some_alike(sizes, least, E))
        return;
    qsort(sizes, E, sizeof *sizes, ascending);
    for (size_t first = 0; first < E; first = last) {
        for (last = first + 1; last < E && nearly(u, sizes[last], sizes[first]);)
            last++;
        if (last - first < 2)
            continue;
        FOR(e, 2 * E) w->row[e] = 0;
        FOR(e, E) if (fabs(c[e]) >= sizes[first] && fabs(c[e]) <= sizes[last - 1]) {
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

    projection(&V[OUTPUT], w, u, &t[MERGED], &t[OUT_WEIGHT_T], in->out_proj_bias, any_flushed(u, &t[OUT_WEIGHT_T]));
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
            double pw = t[ATTN_WEIGHTS].v[m], l = pw * w->sigma_l[(n * H + h) * L + i];
            if (t[MASKED_SCORES].v[m] == -INFINITY)
                continue;
            own += sqrt(V[ATTN_WEIGHTS].v[m]);
            common += l;
            V[ATTN_WEIGHTS].v[m] += l * l;
            open++;
        }
        V[ATTN_WEIGHTS_MEAN].v[(n * L + i) * Sx + j] = (own * own + common * common) / (double)(H * H)
            + u->U * mean * mean * (double)(H + 1) + (open ? store(u, mean) : 0);
    }
}
