/* SPDX-License-Identifier: MIT */
/*
 * Letters: j key row, d channel of a head. V of a number is its variance.
 */
#include "envelope_row.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)
#define MAX(a, b) fmax(a, b)

/* What errors of a do to the product a w. Channels that are equal, up to sign,
 * err alike, and then the errors add up. (A 16-bit score is stored, which loses
 * more than that.) */
static double incoming(const double *a, const double *Va, const double *sigma, const double *w, size_t D, const struct units *u)
{
    double apart = 0, plain = 0, turned = 0;

    FOR(d, D) {
        double x = sigma[d] * w[d];
        apart += Va[d] * w[d] * w[d];
        plain += x;
        turned += a[d] > 0 ? x : a[d] < 0 ? -x : 0;
    }
    return u->T > 0 ? apart : MAX(apart, MAX(plain * plain, turned * turned));
}

/* q k^T / sqrt(D), then + mask. */
static void score(struct row *r, const struct units *u)
{
    double D = (double)r->D;

    FOR(j, r->Sx) {
        struct sums s = { 0 };
        double V = incoming(r->q, r->Vq, r->sigma_q, r->k + j * r->D, r->D, u)
                 + incoming(r->k + j * r->D, r->Vk + j * r->D, r->sigma_k + j * r->D, r->q, r->D, u);
        FOR(d, r->D) {
            sums_add(&s, r->q[d] * r->k[j * r->D + d]);
            V += r->Vq[d] * r->Vk[j * r->D + d];
        }
        double y = r->sc[j], z = r->ms[j], m = finite_or_0(r->mask[j]);
        r->Vsc[j] = (V + summed(u, &s, D, 0)) / D + 2 * u->U * y * y + store(u, y);    /* the scale is rounded, and multiplies */
        r->Vms[j] = masked(r, j) ? 0 : r->Vsc[j] + r->Vmask[j] + u->U * z * z + store(u, z)
                                     + u->U * D * m * m;                               /* the mask first, then D products */
    }
}

static void softmax(struct row *r, const struct units *u, const struct profile *pr)
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

    r->mean_ms = r->mean_sc = r->mean_res = 0;
    FOR(j, r->Sx) {
        double shift = r->ms[j] - max;
        r->Vs[j] = masked(r, j) ? 0 : r->Vms[j] + 2 * u->U * shift * shift;   /* the argument of exp is rounded, and scaled to base 2 */
        if (masked(r, j))
            continue;
        mean += r->p[j] * r->p[j] * r->Vs[j];
        r->mean_ms += r->p[j] * r->ms[j];
        r->mean_sc += r->p[j] * finite_or_0(r->sc[j]);
        r->mean_res += r->p[j] * residue(pr, r->ms[j]);
    }
    FOR(j, r->Sx) {
        double p = r->p[j];
        r->Vp[j] = masked(r, j) ? 0
                 : p * p * MAX(0, (1 - 2 * p) * r->Vs[j] + mean)              /* errors of the scores */
                 + 16 * u->U * p * p + store(u, p);                           /* of exp itself */
    }
}

/* Errors that move all scores of a row together do not average out: of q, of
 * the scale, and of storing equal scores. A key feels them as far as it stands
 * off from the mean key. */
static void softmax_common(struct row *r, const struct units *u, const struct profile *pr)
{
    size_t D = r->D;
    double *mean_k = r->lean;

    FOR(d, D) mean_k[d] = 0;
    FOR(j, r->Sx) if (!masked(r, j)) FOR(d, D) mean_k[d] += r->p[j] * finite_or_0(r->k[j * D + d]);
    FOR(j, r->Sx) {
        if (masked(r, j))
            continue;
        double ms = r->ms[j] - r->mean_ms, sc = finite_or_0(r->sc[j]) - r->mean_sc, res = residue(pr, r->ms[j]) - r->mean_res;
        double V = 2 * MAX(u->U, u->O) * MAX(ms * ms, sc * sc) + res * res;
        FOR(d, D) {
            double off = finite_or_0(r->k[j * D + d]) - mean_k[d];
            V += r->Vq[d] / (double)D * off * off;
        }
        r->Vp[j] += r->p[j] * r->p[j] * V;
    }
}

/* c = sum of p v. Centred: what moves all values of a row together moves nothing. */
static void mix(struct row *r, const struct units *u, const struct profile *pr)
{
    size_t D = r->D, Sx = r->Sx;
    double *scale = r->lean, *scale_sc = r->lean + D, *res_p = r->lean + 2 * D, *res_v = r->lean + 3 * D, *res_s = r->lean + 4 * D;
    double *off = r->lean + 5 * D;
    struct sums_row sums = sums_row(r->sums, D);

    FOR(d, 5 * D) r->lean[d] = 0;
    FOR(j, Sx) {
        double p = r->p[j], ms = r->ms[j] - r->mean_ms, sc = finite_or_0(r->sc[j]) - r->mean_sc;
        const double *v = r->v + j * D, *Vv = r->Vv + j * D;
        if (masked(r, j)) {
            FOR(d, D) sums.partial2[d] += sums.y[d] * sums.y[d];              /* a term of 0 */
            FOR(d, D) sums.partial[d] += fabs(sums.y[d]);
            continue;
        }
        sums_row_add(&sums, D, p, v);
        FOR(d, D) off[d] = v[d] - r->c[d];
        FOR(d, D) {
            r->Vc[d] += p * p * r->Vs[j] * off[d] * off[d]                    /* errors of the scores */
                      + (16 * u->U + u->T) * p * p * v[d] * v[d]              /* of exp, and of storing the weight */
                      + p * p * Vv[d];                                        /* of the values */
            scale[d] += p * ms * off[d];
            scale_sc[d] += p * sc * off[d];
        }
        if (pr->smallest > 0) FOR(d, D) {
            res_p[d] += residue(pr, p) * off[d];
            res_v[d] += p * residue(pr, v[d]);
            res_s[d] += p * residue(pr, r->ms[j]) * off[d];
        }
    }
    FOR(d, D) {
        double s = MAX(fabs(scale[d]), fabs(scale_sc[d]));
        struct sums one = sums_row_at(&sums, d);
        r->Vc[d] += 2 * MAX(u->U, u->O) * s * s;                                                      /* an error in the scale is common to all keys */
        r->Vc[d] += res_p[d] * res_p[d] + res_v[d] * res_v[d] + res_s[d] * res_s[d];                  /* equal numbers round alike */
        r->Vc[d] += summed(u, &one, (double)Sx, 0) + store(u, r->c[d]);
    }
}

void row_walk(struct row *r, const struct units *u, const struct profile *p)
{
    score(r, u);
    softmax(r, u, p);
    softmax_common(r, u, p);
    mix(r, u, p);
}
