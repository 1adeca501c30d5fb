/* SPDX-License-Identifier: MIT */
/*
 * Letters: j key row, d channel of a head. V of a number is its variance.
 */
#include "row.h"

#include "../recipe/two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- q k^T / sqrt(D), then + mask ---- */

static double square_of_larger(double a, double b)
{
    return larger(a * a, b * b);
}

static int all_alike(const struct units *u, const double *x, size_t count)
{
    int alike = 1;

    FOR(m, count) alike &= nearly(u, fabs(x[m]), fabs(x[0]));
    return alike;
}

TWO_SPEEDS
static void common_errors_fast(double *restrict together, double *restrict turned, const double *restrict x, const double *restrict V, size_t count)
{
    FOR(m, count) {
        double sigma = sqrt(V[m]);
        together[m] = sigma;
        turned[m] = x[m] == 0 ? 0 : copysign(sigma, x[m]);
    }
}

void common_errors(double *together, double *turned, const double *x, const double *V, size_t count)
{
    common_errors_fast(together, turned, x, V, count);
}

int shows_errors(const struct units *u, const struct profile *p, const double *x, size_t count)
{
    return p->smallest > 0 && !all_alike(u, x, count);
}

/* One channel's share, (Sx) each. Sixteen parameters because restrict, which
 * lets the compiler vectorise the loop, works on parameters only. */
static inline void score_channel(double *restrict from_q, double *restrict from_k, double *restrict from_both,
                                 double *restrict q_together, double *restrict q_turned, double *restrict k_together, double *restrict k_turned,
                                 const double *restrict k, const double *restrict Vk, const double *restrict together, const double *restrict turned,
                                 size_t Sx, double q, double Vq, double sigma_together, double sigma_turned)
{
    FOR(j, Sx) {
        from_q[j] += Vq * k[j] * k[j];
        from_k[j] += q * q * Vk[j];
        from_both[j] += Vq * Vk[j];
        q_together[j] += sigma_together * k[j];
        q_turned[j] += sigma_turned * k[j];
        k_together[j] += q * together[j];
        k_turned[j] += q * turned[j];
    }
}

/* What errors of q and of k do to their product. Channels that are equal, up to
 * sign, err alike, and then the errors add up: "together" is for equal signs,
 * "turned" for signs as those of the channel. Numbers stored in 16 bits show
 * their error: where the channels are not all equal, it takes the places of both. */
TWO_SPEEDS
static void score(struct row *r, const struct units *u)
{
    size_t Sx = r->Sx, n = r->D;
    double D = (double)n;
    double *from_q = r->keys, *from_k = r->keys + Sx, *from_both = r->keys + 2 * Sx;
    double *q_together = r->keys + 3 * Sx, *q_turned = r->keys + 4 * Sx, *k_together = r->keys + 5 * Sx, *k_turned = r->keys + 6 * Sx;

    FOR(m, 7 * Sx) r->keys[m] = 0;
    FOR(d, n) score_channel(from_q, from_k, from_both, q_together, q_turned, k_together, k_turned,
                            r->k_t + d * Sx, r->Vk_t + d * Sx, r->k_together + d * Sx, r->k_turned + d * Sx,
                            Sx, r->q[d], r->Vq[d], r->q_together[d], r->q_turned[d]);
    row_channels_in_common(r);
    FOR(j, Sx) {
        double y = r->sc[j], z = r->ms[j], m = finite_or_0(r->mask[j]);
        from_q[j] = larger(from_q[j], r->pattern_keys[j]);
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
    FOR(j, r->Sx) if (!masked(r, j)) sum += exp(r->ms[j] - max);          /* not by the weights: a file or a fault has others */
    FOR(j, r->Sx) {
        partial += r->p[j];
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

static inline void add_squares(double *restrict V, double a, const double *restrict x, double mean, size_t count)
{
    FOR(m, count) V[m] += a * (x[m] - mean) * (x[m] - mean);
}

/* Errors that move all scores of a row together do not average out: of q, of
 * the scale, and of storing equal scores. A key feels them as far as it stands
 * off from the mean key. */
TWO_SPEEDS
static void softmax_common(struct row *r, const struct units *u, const struct profile *pr)
{
    double *V = r->keys, *mean = r->lean;
    struct matrix keys = { r->k, r->Sx, r->D, r->D };

    FOR(d, r->D) mean[d] = 0;
    row_add(mean, r->p, &keys);
    FOR(j, r->Sx) V[j] = 0;
    FOR(d, r->D) add_squares(V, r->Vq[d] / (double)r->D, r->k_t + d * r->Sx, mean[d], r->Sx);
    FOR(j, r->Sx) {
        if (masked(r, j))
            continue;
        double ms = r->ms[j] - r->mean_ms, sc = finite_or_0(r->sc[j]) - r->mean_sc, res = residue(pr, r->ms[j]) - r->mean_res;
        V[j] += 2 * larger(u->U, u->O) * square_of_larger(ms, sc) + res * res;
        r->Vp[j] += r->p[j] * r->p[j] * V[j];
    }
}

/* One key's share, (D) each. Thirteen parameters because restrict, which
 * lets the compiler vectorise the loop, works on parameters only. */
static inline void mix_key(double *restrict apart, double *restrict Vc, double *restrict scale, double *restrict scale_sc,
                           const double *restrict v, const double *restrict Vv, const double *restrict c, size_t D,
                           double p2, double moved, double weights, double ms, double sc)
{
    FOR(d, D) {
        double off = v[d] - c[d];
        apart[d] += moved * off * off;                                        /* errors of the scores */
        Vc[d] += weights * v[d] * v[d]                                        /* of exp, and of storing the weight */
               + p2 * Vv[d];                                                  /* of the values */
        scale[d] += ms * off;
        scale_sc[d] += sc * off;
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
        mix_key(apart, Vc, scale, scale_sc, v, Vv, c, D, p * p, moved, weights, ms, sc);
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
    score(r, u);
    softmax(r, u, p);
    row_weights_in_common(r);
    softmax_common(r, u, p);
    mix(r, u, p);
    row_mix_in_common(r, u, p);
}
