/* SPDX-License-Identifier: MIT */
/*
 * A vector file as the recipe wants it, and back: the only place that knows
 * the names of members and checks their shapes.
 */
#ifndef QKVEC_VECTOR_H
#define QKVEC_VECTOR_H

#include "../recipe/mha.h"
#include "../store/npz.h"

struct vector {
    char name[128];          /* "core/answer"; the path for a file outside the vectors' directory */
    struct npz file;         /* every member as stored */
    struct mha_in in;        /* arguments and parameters in double, owned by the vector */
    int is_causal;           /* the hint; the mask is always there too */
    double dropout;          /* evaluation mode: it changes nothing */
    double *numbers;         /* what in points to, count of them */
    size_t count;
    unsigned char *flags;    /* the bool masks that in points to */
    char error[512];
};

/* More stages than this many numbers in all are refused: their making would
 * take a machine down. */
#define VECTOR_NUMBERS ((size_t)1 << 28)

/* Read and check. NULL, or what is wrong: the member, what was found, what was
 * wanted (the text is v->error; the vector is then empty). A file without
 * golden stages is a valid case too. */
const char *vector_read(struct vector *v, const char *path, const char *name);

/* The same for a vector that corpus_choose() (corpus.h) has chosen, from the
 * bytes whose hash it checked if it has kept them. */
struct chosen;
const char *vector_read_chosen(struct vector *v, const struct chosen *chosen);

/* The same from arrays in memory; takes the arrays over, also on failure. */
const char *vector_from(struct vector *v, struct npz *file, const char *name);

/* A stage as stored: policy NULL or "pytorch" for the main answer, prefix "" or
 * "sigma."; NULL where the file has none. Its shape has been checked. */
const struct npz_array *vector_stage(const struct vector *v, const char *policy, const char *prefix, const char *stage);

/* The vector lists this policy (pytorch: always). */
int vector_has_policy(const struct vector *v, const char *policy);

/* A vector file keeps this stage; those marked * in mha.h it does not. */
int vector_keeps(enum mha_stage stage);

/* Prose ("about", "made_by"), a copy to free; "" where there is none. */
char *vector_text(const struct vector *v, const char *member);

/* Arguments and parameters (a float mask is one) rounded to what a kernel of
 * this type is given, by round(context, x). Returns 0, or 1 when a number
 * changed, or 3 when one has become infinite that was not.
 * v->file keeps what was stored. */
int vector_round(struct vector *v, double (*round)(const void *context, double x), const void *context);

void vector_free(struct vector *v);

/* Stages as arrays to write: <f8 members under prefix and their own names (absent ones left out). */
const char *vector_put_stages(struct npz *z, const char *prefix, const struct array t[STAGES]);

/* The inverse of vector_from: configuration, parameters and arguments under
 * their file names and in the layout of in; numbers as type (NPZ_F2, NPZ_F4 or
 * NPZ_F8), rounded to nearest where it is shorter, bool masks as |b1. What
 * struct mha_in does not know is given beside it. Like the two functions
 * around it: appends to z; NULL, or z->error (what was added stays in z). */
const char *vector_pack(struct npz *z, const struct mha_in *in, int is_causal, double dropout, enum npz_type type);

/* Prose, as vector_text gives it back: UTF-8 without control characters. */
const char *vector_put_text(struct npz *z, const char *member, const char *text);

#endif
