/* SPDX-License-Identifier: MIT */
/*
 * Errors that several numbers have in common, in one row of one head: equal keys,
 * equal values, equal weights, equal channels, and the error of q, which all keys see.
 *
 * Letters: j key row, d channel of a head, g group, k pattern. V of a number is its variance.
 */
#include "row.h"

#include <stdint.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- q: channels that are equal, up to sign, are equally wrong ---- */

/* pattern_keys (Sx), as room: what errors of q do to the product with each key if equal channels err
 * alike, a variance; 0 if there are none. */
void row_channels_in_common(struct row *r)
{
    struct matrix keys = { r->k_t, r->D, r->Sx, r->Sx };
    double *V = r->pattern_keys, *sum = r->pattern_keys + r->Sx, *pattern = r->patterns;

    FOR(j, r->Sx) V[j] = 0;
    if (!r->equal_channels->count)
        return;
    FOR(d, r->D) if (r->equal_channels->leader[d] == d) {
        FOR(e, r->D) pattern[e] = r->equal_channels->leader[e] == d ? r->q_sigma[e] : 0;
        FOR(j, r->Sx) sum[j] = 0;
        row_add(sum, pattern, &keys);
        FOR(j, r->Sx) V[j] += sum[j] * sum[j];
    }
}

/* Sign k of a channel, for the patterns that are drawn together: as random as splitmix64. */
static double sign(size_t channel, size_t k)
{
    uint64_t z = (channel + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) >> k & 1 ? 1 : -1;
}

/* The independent errors of q as patterns (count,D): one for each group of equal channels. If there are
 * more than PATTERNS, as many sums of all of them with random signs: the mean of the squares is
 * the sum of the squares, in expectation. Returns their number. */
static size_t patterns_of_q(struct row *r)
{
    const size_t *leader = r->equal_channels->leader;
    size_t count = 0;

    FOR(d, r->D) count += leader[d] == d;
    if (count > PATTERNS) {
        FOR(k, PATTERNS) FOR(d, r->D) r->patterns[k * r->D + d] = sign(leader[d], k) * r->q_sigma[d] / sqrt(PATTERNS);
        return PATTERNS;
    }
    count = 0;
    FOR(d, r->D) if (leader[d] == d) {
        FOR(e, r->D) r->patterns[count * r->D + e] = leader[e] == d ? r->q_sigma[e] : 0;
        count++;
    }
    return count;
}

/* moved (D) = sum over j of p_j error_j (v_j - c) / sqrt(D): what errors of the scores do to the mix. weighted: room (Sx). */
static void through_mix(double *moved, double *weighted, const struct row *r, const double *error)
{
    struct matrix values = { r->v, r->Sx, r->D, r->D };
    double all = 0, root = sqrt((double)r->D);

    FOR(j, r->Sx) {
        weighted[j] = r->p[j] > 0 ? r->p[j] * error[j] / root : 0;
        all += weighted[j];
    }
    FOR(d, r->D) moved[d] = 0;
    row_add(moved, weighted, &values);
    FOR(d, r->D) moved[d] -= all * r->c[d];
}

/* Adds what one error of all scores does: a @ what (D,Sx), for a (D). */
static void mix_one_error(struct row *r, const double *a, const double *what)
{
    struct matrix keys = { what, r->D, r->Sx, r->Sx };
    double *moved = r->lean, *error = r->keys, *weighted = r->keys + r->Sx;

    FOR(j, r->Sx) error[j] = 0;
    row_add(error, a, &keys);
    through_mix(moved, weighted, r, error);
    FOR(d, r->D) r->Vc[d] += moved[d] * moved[d];
}

/* An error of q moves the scores of all keys at once. Of numbers stored in 16 bits the error is known. */
static void mix_errors_of_scores(struct row *r, const struct profile *p)
{
    size_t count = patterns_of_q(r);

    FOR(k, count) mix_one_error(r, r->patterns + k * r->D, r->k_t);
    if (!(p->smallest > 0))
        return;
    FOR(d, r->D) r->patterns[d] = residue(p, r->q[d]);
    mix_one_error(r, r->patterns, r->k_t);
    mix_one_error(r, r->q, r->res_k_t);
}

/* ---- keys, weights and values that are equal ---- */

/* Keys that are equal have scores that are equally wrong: a weight sees the errors of its group less
 * the mean error, which is larger if groups err as one. */
void row_weights_in_common(struct row *r)
{
    const struct groups *g = r->equal_keys;
    double apart = 0, alike = 0, *sum = r->keys;

    FOR(j, r->Sx) r->sigma_keys[j] = r->p[j] > 0 ? r->p[j] * sqrt(r->Vs[j]) : 0;
    if (!g->count)
        return;
    FOR(j, r->Sx) sum[j] = 0;
    FOR(j, r->Sx) {
        sum[g->leader[j]] += r->sigma_keys[j];
        apart += r->sigma_keys[j] * r->sigma_keys[j];
    }
    FOR(j, r->Sx) alike += sum[j] * sum[j];
    FOR(j, r->Sx) if (!masked(r, j)) {
        double p = r->p[j], V = r->Vs[j], one = larger(0, (1 - 2 * p) * V + apart);
        r->Vp[j] += p * p * larger(0, V - 2 * sqrt(V) * sum[g->leader[j]] + alike - one);
    }
}

static void add_excess(struct row *r, const struct groups *g, const double *a, const double *w, const double *middle, double times)
{
    struct matrix values = { w, r->Sx, r->D, r->D };

    if (!g->count || !(times > 0))
        return;
    alike_excess(r->lean, r->lean + r->D, g, a, &values, middle);
    FOR(d, r->D) r->Vc[d] += times * r->lean[d];
}

void row_mix_in_common(struct row *r, const struct units *u, const struct profile *p)
{
    double weights = 16 * u->U + u->T + u->O;

    add_excess(r, r->equal_keys, r->sigma_keys, r->v, r->c, 1);              /* scores of equal keys */
    alike_scores(r->equal_scores, r->search, u, r->ms, r->Sx);
    add_excess(r, r->equal_scores, r->p, r->v, r->c, weights);              /* equal weights: exp, storing them unnormalised */
    add_excess(r, r->equal_values, r->p, r->sigma_v, NULL, 1);               /* equal values */
    mix_errors_of_scores(r, p);
}
