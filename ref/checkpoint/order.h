/* SPDX-License-Identifier: MIT */
/*
 * In which order and layout does a packed weight hold q, k and v? From what a
 * module was given and what it returned, every reading of the weight is tried:
 * the one that reproduces the output is the right one.
 */
#ifndef QKVEC_ORDER_H
#define QKVEC_ORDER_H

#include "../envelope/profile.h"
#include "layer.h"

/* One reading of the weights and of the record. */
struct reading {
    struct layout layout;
    size_t H;
    int batch_first;          /* of the record */
    int out_transposed;       /* out_proj.weight is (in,out) */
    double rms;               /* error on a part of the record; by this the readings are ranked */
};

/* A reading judged on the whole record. */
struct judged {
    struct reading reading;
    int passed;
    double error_sigma;       /* the worst element */
    double noise;             /* rms error in sigma */
    char reason[240];         /* where it failed */
};

#define ORDER_JUDGED 16

enum order_verdict { ORDER_PROVEN, ORDER_NONE, ORDER_CANNOT_TELL };

struct order {
    enum order_verdict verdict;
    struct judged judged[ORDER_JUDGED];    /* the best by rank; those that passed come first */
    size_t count, passed, tried;
    size_t N, L, S, E;                     /* of the record, under the best reading */
    int unbatched;
    char why[240];                         /* why the record cannot tell; "" otherwise */
    char error[600];
};

/* record: query, key, value, output as forward() takes and returns them, and
 * attn_mask and key_padding_mask where there were any; key stands for a missing
 * value and query for a missing key. batch_first, num_heads and add_zero_attn
 * of shape () say how the module was made; without batch_first both ways are
 * tried. H 0: what the record says, or else every divisor of E.
 * NULL, or why nothing can be judged (o->error). */
const char *order_find(struct order *o, const struct layer *layer, const struct npz *record, size_t H, const struct profile *p);

/* ---- of order*.c ---- */

struct vector;

/* Parameters of a layer as they lie in the file, in double. */
struct weights {
    size_t E, width[3];            /* inputs of each of the three */
    int separate, rows, columns;   /* separate: stored (out,in), stored (in,out) is possible by their shapes */
    double *part[3];               /* packed: part[0] alone, 3E * E numbers */
    double *bias, *out, *out_bias, *bias_k, *bias_v;    /* (3E) (E,E) (E) (E) (E), or NULL */
};

const char *weights_take(struct weights *w, const struct layer *layer, char error[SENTENCE]);
void weights_free(struct weights *w);

/* The number for an output (0 to 3E-1) and an input. */
double weights_get(const struct weights *w, enum storing storing, size_t output, size_t input);

/* Arguments of the record and parameters under a reading, as a vector: its
 * numbers are taken as they are. r->layout may be impossible for w when w is
 * only asked for shapes (blank 1: all weights 0). */
const char *reading_vector(struct vector *v, const struct weights *w, const struct npz *record, const struct reading *r, int blank, char error[600]);

size_t weights_output(const struct weights *w, const struct reading *r, int which, size_t e);

/* q, k and v take inputs as wide as these. */
int reading_fits(const struct weights *w, const struct layout *l, size_t query, size_t key, size_t value);

/* All readings with their rms error on a part of the record, best first; to free. */
const char *order_rank(struct reading **all, size_t *count, const struct weights *w, const struct npz *record, size_t H, char error[600]);

/* output of the record as (N,L,E), to free; NULL without memory. */
double *record_output(const struct npz *record, int batch_first, size_t N, size_t L, size_t E);

#endif
