/* SPDX-License-Identifier: MIT */
/*
 * The names that programs give to the tensors of an attention layer.
 *
 * One row for each combination of names; a name is the end of a tensor's key,
 * below the layer's prefix. "/" stands for "." in a key, and "kernel" or
 * "kernel:0" for "weight": TensorFlow, Keras and Flax spell it so, and store
 * (in,out) instead of (out,in).
 */
#ifndef QKVEC_NAMING_H
#define QKVEC_NAMING_H

#include <stddef.h>

/* The shapes that a program of these names has beside the plain one. */
enum {
    NAMED_GROUPED = 1,     /* fewer heads of k and v than of q */
    NAMED_CROSS = 2,       /* k or v with inputs of another width (kdim, vdim) */
    NAMED_3D = 4           /* weights (E, H, D) alone: parameters without "weight" in their name */
};

/* One row. NULL: there is no such tensor. */
struct naming {
    const char *weight[3];       /* q, k, v; or packed, NULL, NULL */
    const char *bias[3];         /* q, k, v; or packed, NULL, NULL */
    const char *out_weight, *out_bias;
    const char *origin;          /* "" for nn.MultiheadAttention */
    const char *layout;          /* --layout by these names */
    const char *rival;           /* another program's layout under the same names, or NULL */
    const char *rival_origin;
    unsigned shapes;             /* NAMED_... */
    const char *source;          /* classes and files with these names */
};

extern const struct naming namings[];
extern const size_t naming_count;

/* The spellings of a key: its separator and its word for "weight". */
struct spelling {
    char separator;
    const char *weight;
    int in_out;                  /* weights are (in,out) */
};

#define SPELLINGS 6
extern const struct spelling spellings[SPELLINGS];

#define NAMING_KEY 160

/* Write a name of a row in a spelling, "self/query/kernel". Returns key, or
 * NULL if name is NULL or too long. */
const char *naming_spell(char key[NAMING_KEY], const char *name, const struct spelling *s);

/* Return the length of the prefix if key is "PART" or "PREFIX.PART", with its separator; else -1. */
long naming_prefix(const char *key, const char *part);

/* Layout that config.json decides for its model_type, or NULL. */
const char *naming_model_layout(const char *model_type, int multi_query);

#endif
