/* SPDX-License-Identifier: MIT */
/* What the parts of the envelope share: room, and the parts themselves. */
#ifndef QKVEC_ENVELOPE_WALK_H
#define QKVEC_ENVELOPE_WALK_H

#include "product.h"
#include "row.h"
#include "../recipe/mha.h"

/* (L,E) each: what errors of the normalisers, and of single weights beyond their
 * channels' share, do to the output: variances summed over the heads, and sums
 * of their roots, for errors that the heads have in common. */
struct heads { double *normal, *normal_together, *moved, *moved_together; };

/* Room for the walk, cut into pieces. */
struct scratch {
    double *sigma_l;         /* (N,H,L): of the normalisers */
    double *Vc;              /* (N,L,E): of the mixed values, without the normalisers' part */
    double *Vs;              /* (Sx) */
    double *Vq, *q_together, *q_turned;            /* (L,D): of the queries of a head */
    double *k;               /* (Sx,D): the keys of a head */
    double *k_t, *Vk_t, *k_together, *k_turned;    /* (D,Sx): the same, transposed */
    double *v;               /* (Sx,D): the values of a head */
    double *res_v;           /* (Sx,D): what storing them loses; 16 bits only */
    double *p;               /* (L,Sx): the weights of a head, 0 where masked */
    double *moved, *apart;   /* (L,Sx) (L,D): see struct row */
    double *keys, *lean;     /* (7,Sx) (6,D) */
    double *q_sigma, *sigma_v;                     /* (L,D) (Sx,D): see struct row */
    double *patterns, *pattern_keys;               /* (PATTERNS,D) (2,Sx) */
    double *sigma_keys;      /* (L,Sx): p sigma(s) */
    double *res_k_t;                               /* (D,Sx): what storing the keys loses; 16 bits only */
    struct groups equal_keys, equal_values, equal_scores, equal_channels;
    struct alike_room search;
    double *x;               /* (S,Ev): value rows of an item, numbers that are not finite as 0 */
    double *mixed;           /* (L,Ev): value rows mixed before they are projected */
    double *added;           /* (Sx,E): what each value row of a head would add to the output */
    double *row;             /* (6,E) */
    struct heads heads;
    double *strip;           /* of a matrix with E, Ek, Ev or Sx rows */
    int flushed_v;           /* a weight of v_proj may become 0 */
};

/* Adds to V what projecting x loses. x, w_t and b: stages; flushed_w: any_flushed(w_t). */
void projection(struct array *V, struct scratch *w, const struct units *u, const struct array *x, const struct array *w_t,
                const double *b, int flushed_w);

/* What errors of one head do to the output, kept in w->heads: w->moved, w->apart
 * and w->v are those of head h, c (L,D) its mixed values, sigma_l (L). */
void head_through_output(struct scratch *w, const struct array *w_t, const double *c, const double *sigma_l,
                         size_t h, size_t L, size_t Sx, size_t D);

/* Adds what w->heads holds of all heads of an item to Vout (L,E). c (H,L,D) */
void heads_through_output(double *Vout, const struct scratch *w, const struct units *u, const double *c,
                          size_t H, size_t L, size_t D);

/* The output and the mean of the weights. Takes the weights without the
 * normalisers' part, and adds it. */
void output(struct array V[STAGES], struct scratch *w, const struct array t[STAGES], const struct mha_in *in,
            const struct profile *p, const struct units *u);
void average(struct array V[STAGES], struct scratch *w, const struct array t[STAGES], const struct mha_in *in, const struct units *u);

#endif
