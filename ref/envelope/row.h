/* SPDX-License-Identifier: MIT */
/* The envelope of one query of one head: from its scores to its mixed values. */
#ifndef QKVEC_ENVELOPE_ROW_H
#define QKVEC_ENVELOPE_ROW_H

#include "alike.h"

/* Where the walk is: everything of one row. j < Sx, d < D. */
struct row {
    size_t Sx, D;
    const double *q, *k, *k_t, *v;              /* (D) (Sx,D) (D,Sx) (Sx,D): all but q finite */
    const double *mask, *sc, *ms, *p, *c;       /* merged mask, scores, masked scores, weights (Sx), 0 where masked; mixed values (D) */
    const double *Vq, *q_together, *q_turned;   /* (D), as the scores see it: a variance; errors that channels may have in common */
    const double *Vk_t, *k_together, *k_turned; /* (D,Sx): the same of the keys */
    const double *Vv, *Vmask;                   /* (Sx,D) (Sx) */
    const double *res_v;                        /* (Sx,D): what storing the values loses; 16 bits only */
    double *Vsc, *Vc;                           /* hold what the sums of these products lose; the rest is added */
    double *Vms, *Vp;                           /* to fill; Vp and Vc without what the normaliser does */
    double *Vs;                                 /* (Sx), as the softmax sees it */
    double *moved;                              /* (Sx), to fill: p² Vs, errors of the weights by their scores */
    double *apart;                              /* (D), to fill: what these do to c, channel by channel */
    double Vl;                                  /* relative, of the normaliser: common to the row */
    double mean_ms, mean_sc, mean_res;          /* over the keys, weighted by p: scores, and what storing them loses */
    double *lean, *keys;                        /* room: (6,D) (7,Sx) */
    const double *q_sigma;                      /* (D): of q, of its rounding as an operand too; signed as q is */
    const double *sigma_v;                      /* (Sx,D): the same of the values */
    const struct groups *equal_keys, *equal_values;    /* rows of k and of v that are alike */
    struct groups *equal_scores, *equal_channels;      /* room for those of this row: (Sx) (D) */
    struct alike_room *search;                  /* (most of Sx and D) */
    double *patterns, *pattern_keys;            /* room: (PATTERNS,D) (2,Sx) */
    double *sigma_keys;                         /* (Sx), to fill: p sigma(s) */
    const double *res_k_t;                      /* (D,Sx): what storing the keys loses; 16 bits only */
};

/* So many patterns of errors of q are followed through the mix one by one; more are drawn together. */
enum { PATTERNS = 8 };

/* Adds what errors do that keys, values, weights or channels have in common: to Vp, and to Vc. */
void row_weights_in_common(struct row *r);
void row_mix_in_common(struct row *r, const struct units *u, const struct profile *p);
void row_channels_in_common(struct row *r);

/* A masked key has no weight, and no error. */
static inline int masked(const struct row *r, size_t j)
{
    return r->ms[j] == -INFINITY;
}

/* The errors that numbers x of variances V have in common where channels are
 * equal: for equal signs, and for signs as those of x. */
void common_errors(double *together, double *turned, const double *x, const double *V, size_t count);

/* Stored in 16 bits, the count channels of one row show their errors, which take
 * the places of both; unless all are equal, up to sign. */
int shows_errors(const struct units *u, const struct profile *p, const double *x, size_t count);

/* Step after step, from Vsc to Vc. */
void row_walk(struct row *r, const struct units *u, const struct profile *p);

#endif
