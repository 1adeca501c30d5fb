/* SPDX-License-Identifier: MIT */
/*
 * Letters: i row of scores, j key, k stage, m element of a whole array.
 */
#include <math.h>

#include "envelope.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* Some kernels store q k^T before they scale it. It is not decided whether this
 * one is a finite number of the type then: 8 sigma reach both sides of the end of
 * its range, whichever way it rounds. */
static int at_the_edge(double score, double sigma, double D, const struct profile *p)
{
    double size = fabs(score) * sqrt(D), off = ENVELOPE_SIGMAS * sigma * sqrt(D);

    return isfinite(score) && size + off > p->largest && size - off < p->largest * (1 + p->u);
}

/* Some key might overtake the largest, and its score is too blurred for the
 * first-order walk above: 8 sigma of the two scores do not keep them apart
 * until the smaller one's weight is below the floor. */
static int undetermined(const double *ms, const double *sigma, size_t Sx, const struct profile *p)
{
    size_t top = 0;

    FOR(j, Sx) if (ms[j] > ms[top]) top = j;
    if (isfinite(ms[top]) && sqrt(2.0 / 3) * p->u * fabs(ms[top]) > 1.0 / 64)     /* exp(s - lse): the weights themselves are blurred */
        return 1;
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
    double D = (double)t[Q_HEADS].shape[3];

    FOR(k, sizeof kept / sizeof *kept) FOR(m, t[kept[k]].size)
        if (isfinite(t[kept[k]].v[m]) && fabs(t[kept[k]].v[m]) > fmin(p->largest, 0x1p250))    /* whose fourth power is one too */
            return "a number leaves the range of the type";
    FOR(m, t[SCORES].size)
        if (at_the_edge(t[SCORES].v[m], sigma[SCORES].v[m], D, p))
            return "a score, before it is scaled, is at the edge of the range of the type";
    FOR(i, rows)
        if (Sx && undetermined(t[MASKED_SCORES].v + i * Sx, sigma[MASKED_SCORES].v + i * Sx, Sx, p))
            return "rounding of the scores leaves the softmax undetermined";
    return NULL;
}
