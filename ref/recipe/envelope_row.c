/* SPDX-License-Identifier: MIT */
/*
 * Letters: j key row, d channel of a head. V of a number is its variance.
 */
#include "envelope_row.h"

#include "two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- q k^T / sqrt(D), then + mask ---- */

static double square_of_larger(double a, double b)
{
    return larger(a * a, b * b);
}

int all_alike(const struct units *u, const double *x, size_t count)
{
    int alike = 1;

    FOR(m, count) alike &= nearly(u, fabs(x[m]), fabs(x[0]));
    return alike;
}

void common_error(double *together, double *turned, const struct profile *p, double x, double V, int shown)
{
    *together = shown ? residue(p, x) : sqrt(V);
    *turned = shown ? *together : x > 0 ? *together : x < 0 ? -*together : 0;
}

/* What errors of q and of k do to their product. Channels that are equal, up to
 * sign, err alike, and then the errors add up: "together" is for equal signs,
 * "turned" for signs as those of the channel. Numbers stored in 16 bits show
 * their error: where the channels are not all equal, it takes the places of both. */
static void score(struct row *r, const struct units *u, const struct profile *pr)
{
    size_t Sx = r->Sx, n = r->D;
    double D = (double)n, *q2 = r->lean, *together = r->lean + n, *turned = r->lean + 2 * n;
    double *from_q = r->keys, *from_k = r->keys + Sx, *from_both = r->keys + 2 * Sx;
    double *q_together = r->keys + 3 * Sx, *q_turned = r->keys + 4 * Sx, *k_together = r->keys + 5 * Sx, *k_turned = r->keys + 6 * Sx;
    struct matrix k = { r->k_t, n, Sx, Sx }, Vk = { r->Vk_t, n, Sx, Sx };
    struct matrix kt = { r->k_together, n, Sx, Sx }, ks = { r->k_turned, n, Sx, Sx };
    int shown = pr->smallest > 0 && !all_alike(u, r->q, n);

    FOR(d, n) {
        q2[d] = r->q[d] * r->q[d];
        common_error(&together[d], &turned[d], pr, r->q[d], r->Vq[d], shown);
    }
    FOR(m, 7 * Sx) r->keys[m] = 0;
    row_add_squares(from_q, r->Vq, &k);
    row_add(from_k, q2, &Vk);
    row_add(from_both, r->Vq, &Vk);
    row_add(q_together, together, &k);
    row_add(q_turned, turned, &k);
    row_add(k_together, r->q, &kt);
    row_add(k_turned, r->q, &ks);
    FOR(j, Sx) {
        double y = r->sc[j], z = r->ms[j], m = finite_or_0(r->mask[j]);
        double V = larger(from_q[j], square_of_larger(q_together[j], q_turned[j]))
                 + larger(from_k[j], square_of_larger(k_together[j], k_turned[j])) + from_both[j];
        r->Vsc[j] = (V + r->Vsc[j]) / D + 2 * u->U * y * y + store(u, y);     /* the scale is rounded, and multiplies */
        r->Vms[j] = masked(r, j) ? 0 : r->Vsc[j] + r->Vmask[j] + u->U * z * z + store(u, z)
                                     + u->U * D * m * m;                      /* the mask first, then D products */
    }
}

static void softmax(struct row *r, const struct units *u, const struct profile *pr)
{
    double Sx = (double)r->Sx, max = -INFINITY, sum = 0, partial = 0, lambda = 0, mean = 0;

    FOR(j, r->Sx) if (!masked(r, j)) max = larger(max, r->ms[j]);
    FOR(j, r->Sx) if (!masked(r, j)) sum += exp(r->ms[j] - max);
    FOR(j, r->Sx) {
        partial += masked(r, j) ? 0 : r->p[j];
        lambda += partial;
    }
    lambda = larger(lambda, Sx - lambda);
    double lse = max + log(sum);
    r->Vl = u->U * (16 + larger(Sx, lambda * lambda / 16))                       /* the sum, in any order; its reciprocal */
          + 2 * u->U * larger(max * max, lse * lse);                             /* exp(s - lse): the shift is rounded */
    if (max == -INFINITY)
        r->Vl = 0;                                                            /* nothing to normalise */

    r->mean_ms = r->mean_sc = r->mean_res = 0;
    FOR(j, r->Sx) {
        double shift = r->ms[j] - max;
        r->Vs[j] = masked(r, j) ? 0 : r->Vms[j] + 2 * u->U * shift * shift;   /* the argument of exp is rounded, and scaled to base 2 */
        if (masked(r, j))
            continue;
        if (flushed(u, r->p[j]) > 0)
            r->Vs[j] += 1;                                                    /* the whole weight may be lost */
        mean += r->p[j] * r->p[j] * r->Vs[j];
        r->mean_ms += r->p[j] * r->ms[j];
        r->mean_sc += r->p[j] * finite_or_0(r->sc[j]);
        r->mean_res += r->p[j] * residue(pr, r->ms[j]);
    }
    FOR(j, r->Sx) {
        double p = r->p[j];
        r->Vp[j] = masked(r, j) ? 0
                 : p * p * larger(0, (1 - 2 * p) * r->Vs[j] + mean)              /* errors of the scores */
                 + 16 * u->U * p * p + store(u, p);                           /* of exp itself */
    }
}

/* Errors that move all scores of a row together do not average out: of q, of
 * the scale, and of storing equal scores. A key feels them as far as it stands
 * off from the mean key. */
TWO_SPEEDS
static void softmax_common(struct row *r, const struct units *u, const struct profile *pr)
{
    double *restrict V = r->keys, *mean = r->lean;
    struct matrix keys = { r->k, r->Sx, r->D, r->D };

    FOR(d, r->D) mean[d] = 0;
    row_add(mean, r->p, &keys);
    FOR(j, r->Sx) V[j] = 0;
    FOR(d, r->D) {
        const double *restrict k = r->k_t + d * r->Sx;
        double Vq = r->Vq[d] / (double)r->D;
        FOR(j, r->Sx) V[j] += Vq * (k[j] - mean[d]) * (k[j] - mean[d]);
    }
    FOR(j, r->Sx) {
        if (masked(r, j))
            continue;
        double ms = r->ms[j] - r->mean_ms, sc = finite_or_0(r->sc[j]) - r->mean_sc, res = residue(pr, r->ms[j]) - r->mean_res;
        V[j] += 2 * larger(u->U, u->O) * square_of_larger(ms, sc) + res * res;
        r->Vp[j] += r->p[j] * r->p[j] * V[j];
    }
}

/* c = sum of p v. Centred: what moves all values of a row together moves nothing. */
TWO_SPEEDS
static void mix(struct row *r, const struct units *u, const struct profile *pr)
{
    size_t D = r->D;
    double *restrict scale = r->lean, *restrict scale_sc = r->lean + D, *restrict lost = r->lean + 2 * D;
    double *restrict res_p = r->lean + 3 * D, *restrict res_v = r->lean + 4 * D, *restrict res_s = r->lean + 5 * D;
    double *restrict apart = r->apart, *restrict Vc = r->Vc;
    const double *restrict c = r->c;

    FOR(d, 6 * D) r->lean[d] = 0;
    FOR(d, D) apart[d] = 0;
    FOR(j, r->Sx) {
        r->moved[j] = 0;
        if (masked(r, j))
            continue;
        double p = r->p[j], ms = p * (r->ms[j] - r->mean_ms), sc = p * (finite_or_0(r->sc[j]) - r->mean_sc);
        double moved = p * p * r->Vs[j], weights = (16 * u->U + u->T) * p * p;
        const double *restrict v = r->v + j * D, *restrict Vv = r->Vv + j * D;
        r->moved[j] = moved;
        FOR(d, D) {
            double off = v[d] - c[d];
            apart[d] += moved * off * off;                                    /* errors of the scores */
            Vc[d] += weights * v[d] * v[d]                                    /* of exp, and of storing the weight */
                   + p * p * Vv[d];                                           /* of the values */
            scale[d] += ms * off;
            scale_sc[d] += sc * off;
        }
        if (flushed(u, p) > 0) FOR(d, D) lost[d] += p * fabs(v[d]);           /* such weights all lose towards 0 */
        if (!(pr->smallest > 0))
            continue;
        double lost_p = residue(pr, p), lost_s = p * residue(pr, r->ms[j]);
        const double *restrict lost_v = r->res_v + j * D;
        FOR(d, D) {
            res_p[d] += lost_p * (v[d] - c[d]);
            res_v[d] += p * lost_v[d];
            res_s[d] += lost_s * (v[d] - c[d]);
        }
    }
    FOR(d, D) {
        double s = larger(fabs(scale[d]), fabs(scale_sc[d]));
        Vc[d] += apart[d] + 2 * larger(u->U, u->O) * s * s                    /* an error in the scale is common to all keys */
               + lost[d] * lost[d]                                            /* weights that became 0 */
               + res_p[d] * res_p[d] + res_v[d] * res_v[d] + res_s[d] * res_s[d]    /* equal numbers round alike */
               + store(u, c[d]);
    }
}

void row_walk(struct row *r, const struct units *u, const struct profile *p)
{
    score(r, u, p);
    softmax(r, u, p);
    softmax_common(r, u, p);
    mix(r, u, p);
}
