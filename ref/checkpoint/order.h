/* SPDX-License-Identifier: MIT */
/*
 * In which order and layout does a layer hold q, k and v? From a record of what
 * a module was given and returned, every reading of the weights is tried; the
 * one that reproduces the output is right. If none does, the steps that
 * nn.MultiheadAttention lacks are tried as well: another scale, a causal mask,
 * rotary positions, and so on (struct steps).
 *
 * Letters: N batch items, L query rows, S key rows, E inputs of q, H query
 * heads, G key heads, D channels of a head, A = H*D outputs of q, K = G*D
 * outputs of k and of v, O outputs of the output projection.
 */
#ifndef QKVEC_ORDER_H
#define QKVEC_ORDER_H

#include "../envelope/profile.h"
#include "layer.h"

/* ---- the steps of a layer ---- */

enum scale { SCALE_ROOT_D, SCALE_NONE, SCALE_D, SCALE_ROOT_E, SCALE_E, SCALES };
enum masking { MASK_RECORDED, MASK_CAUSAL, MASK_INVERTED, MASK_PADDED, MASK_PADDED_LEFT, MASKS };
enum position { POSITION_NONE, POSITION_ALIBI, POSITION_ALIBI_BOTH, POSITION_HALVES, POSITION_PAIRS, POSITIONS };
enum head_norm { HEAD_NORM_NONE, HEAD_NORM_RMS, HEAD_NORM_RMS_PLUS_1, HEAD_NORM_LAYER, HEAD_NORMS };

/* What a layer does beside the plain steps. All zero: plain. */
struct steps {
    enum scale scale;
    enum masking mask;
    enum position position;
    size_t rotary;              /* channels that are rotated */
    double base;                /* of the rotation; 0: cos and sin of the record */
    enum head_norm norm;        /* of q and k, with the layer's own weights */
    int norm_late;              /* after the rotation */
    int pre_norm;               /* 1 + 2k: the record has the input before layer norm k of weights.norm; 2 + 2k: before it as an RMS norm */
    double eps;                 /* of norm and pre_norm */
    int residual;               /* the output contains the query (or residual of the record) */
    int no_out_bias;            /* the output was recorded before the bias was added */
};

#define STEPS_TEXT 400

/* Write what differs from the plain steps, "causal mask (not in the record); scores not scaled"; "" if nothing does. Returns text. */
const char *steps_text(char text[STEPS_TEXT], const struct steps *steps);

/* One reading of the weights and of the record. */
struct reading {
    struct layout layout;
    size_t H, G;
    int batch_first;          /* of the record */
    int out_transposed;       /* the output projection is (in,out) */
    struct steps steps;
    double rms;               /* error on a part of the record, relative to the output; by this the readings are ranked */
};

/* A reading judged on the whole record. */
struct judged {
    struct reading reading;
    int passed;
    int by_rounding;          /* judged against one run with rounding, not against the envelope */
    double error_sigma;       /* the worst element; by rounding: the rms error in rms errors of that run */
    double noise;             /* rms error in sigma; NAN by rounding */
    char reason[240];         /* where it failed */
};

#define ORDER_JUDGED 16

enum order_verdict { ORDER_PROVEN, ORDER_NONE, ORDER_CANNOT_TELL };

struct order {
    enum order_verdict verdict;
    struct judged judged[ORDER_JUDGED];    /* those that passed come first, then the nearest miss */
    size_t count, passed;
    size_t tried;                          /* readings, with all steps that were tried */
    int depth;                             /* steps beside the plain ones that were tried at once, 0 to 3 */
    int names_only;                        /* the layer is large: steps were tried on the layout of its names alone */
    size_t N, L, S, E;                     /* of the record, under the best reading */
    int unbatched;
    char also[STEPS_TEXT];                 /* other steps that fit with the same layout, in words; "" if none do */
    char why[240];                         /* why the record cannot tell; "" otherwise */
    char error[600];
};

/* Try all readings. record: query, key, value, output as forward() takes and
 * returns them, and attn_mask, key_padding_mask, cos, sin and residual if there
 * were any; key stands for a missing value and query for a missing key.
 * batch_first, num_heads and add_zero_attn of shape () say how the module was
 * made; without batch_first both ways are tried. H 0: what the record, config.json
 * or the shapes say, or else every divisor of A. Returns NULL, or why nothing can
 * be judged (o->error). */
const char *order_find(struct order *o, const struct layer *layer, const struct checkpoint *c, const struct config *config,
                       const struct npz *record, size_t H, const struct profile *p);

/* ---- of order*.c ---- */

/* A norm of the block that holds the layer: its input may have been recorded. */
#define ORDER_NORMS 4
struct norm {
    double *weight, *bias;          /* (E,); NULL: has none */
};

/* Parameters of a layer as they lie in the file, in double. */
struct weights {
    size_t inputs[3], rows[3], O;
    int separate, own_biases;
    int rows_possible, columns_possible;    /* separate: stored (out,in), (in,out) */
    int out_square;
    enum storing storing;
    int out_transposed;
    double *part[3];                        /* packed: part[0] alone, (A+K+K) * E numbers */
    double *bias;                           /* (A+K+K), in the order of the file; NULL: none */
    double *out, *out_bias, *bias_k, *bias_v;    /* (O,A) (O) (A) (A), or NULL */
    double *q_norm, *k_norm, *q_norm_bias, *k_norm_bias;    /* of one head or of all, or NULL */
    size_t q_norm_size, k_norm_size;
    struct norm norm[ORDER_NORMS];
    int norms;
};

const char *weights_take(struct weights *w, const struct layer *layer, const struct checkpoint *c, char error[SENTENCE]);
void weights_free(struct weights *w);

/* Return the sizes of the packed weight under a reading. */
struct outputs weights_outputs(const struct weights *w, const struct reading *r);

/* Return the number for output e of q, k or v and an input. */
double weights_get(const struct weights *w, const struct reading *r, int which, size_t e, size_t input);

/* Return the bias of output e of q, k or v; 0 without biases. */
double weights_bias(const struct weights *w, const struct reading *r, int which, size_t e);

/* Return the inputs of q, k or v under a reading. */
size_t weights_inputs(const struct weights *w, const struct reading *r, int which);

/* Return whether a reading is possible by the shapes alone: inputs as wide as those of the record. */
int reading_fits(const struct weights *w, const struct reading *r, const size_t width[3]);

/* The record with one row after the other, in double. */
struct io {
    size_t N, L, S, width[3], O;
    int batched;
    double *rows[3];               /* query (N,L,X0), key (N,S,X1), value (N,S,X2) */
    double *output, *residual;     /* (N,L,O), or NULL */
    const struct npz_array *mask, *padding;    /* as they are recorded, or NULL */
    double *cos, *sin;             /* (L,R) or (N,L,R), or NULL */
    size_t R, rope_items;          /* rope_items 1 or N */
    int zero_row;                  /* add_zero_attn */
};

/* Read the record. Returns NULL or an error message. */
const char *io_read(struct io *io, const struct npz *record, int batch_first, const struct weights *w, char error[600]);
void io_free(struct io *io);

/* Rows of query, key and value times every output of the file, before biases. */
struct products {
    double *p[3];                  /* (rows, A+K+K); undefined if the widths differ */
    size_t N, L;
};

/* Numbers of one run at most, and those of one batch item. */
#define PRODUCTS_AT_MOST ((size_t)1 << 27)
size_t products_size(const struct io *io, const struct weights *w);

/* Work them out for the first L rows of the first N items under the storing and
 * the pre_norm of a reading. rounding NULL: exact; else as a run of that
 * precision rounds. Returns 0 without memory. */
int products_make(struct products *p, const struct io *io, const struct weights *w, const struct reading *r, size_t N, size_t L,
                  const struct profile *rounding);
void products_free(struct products *p);

/* What of the output is wanted. */
struct output_part {
    const size_t *channel;         /* count of them; NULL: the first ones */
    size_t count;
    const size_t *lengths;         /* valid keys of each item for MASK_PADDED, else NULL */
};

/* Work out a part of the output, (N,L,count), under a reading. Returns 0 without memory. */
int steps_run(double *out, const struct products *p, const struct io *io, const struct weights *w, const struct reading *r,
              const struct output_part *part, const struct profile *rounding);

/* All readings with their error on a part of the record, best first; the caller
 * frees all->reading. depth: how many steps beside the first ones at once, 0 to
 * 3; only: nothing but these steps, on every layout (NULL: as depth says). */
struct ranking {
    struct reading *reading;
    size_t count, room, tried;
    int names_only;
};
struct search {
    const struct weights *w;
    const struct layer *layer;
    const struct config *config;    /* or NULL */
    const struct npz *record;
    size_t H;                       /* 0: not given */
};
const char *order_rank(struct ranking *all, const struct search *s, int depth, const struct steps *only, char error[600]);

/* Judge a reading by a run with rounding, on the whole record. Returns NULL or an error message. */
const char *judge_by_rounding(struct judged *judged, const struct io *io, const struct weights *w, const struct reading *r, const struct profile *p);

/* The arguments of the record and the parameters under a plain reading, as a vector. */
struct vector;
const char *reading_vector(struct vector *v, const struct weights *w, const struct npz *record, const struct reading *r, char error[600]);

#endif
