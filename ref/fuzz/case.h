/* SPDX-License-Identifier: MIT */
/*
 * Random cases: valid vector files without golden stages, drawn from a seed and a number.
 */
#ifndef QKVEC_FUZZ_CASE_H
#define QKVEC_FUZZ_CASE_H

#include <stdint.h>

#include "../store/npz.h"

/* What a case was drawn from. A kind is a bit of its aspect; a case has one
 * kind of each aspect but the options, of which it has any number. */
enum fuzz_aspect { FUZZ_SIZES, FUZZ_ATTN_MASK, FUZZ_PADDING, FUZZ_OPTIONS, FUZZ_NUMBERS, FUZZ_ASPECTS };
enum { FUZZ_KINDS = 32 };    /* at most, of an aspect */
struct fuzz_made { uint32_t kinds[FUZZ_ASPECTS]; };

enum fuzz_option {
    FUZZ_NO_BIAS = 1, FUZZ_BIAS_KV = 2, FUZZ_ZERO_ATTN = 4, FUZZ_KDIM_VDIM = 8, FUZZ_UNBATCHED = 16,
    FUZZ_BATCH_FIRST = 32, FUZZ_MASK_3D = 64, FUZZ_IS_CAUSAL = 128, FUZZ_EMPTY = 256,
};

/* Names of an aspect and of its kind number k; NULL if there are fewer kinds. */
const char *fuzz_aspect_name(enum fuzz_aspect aspect);
const char *fuzz_kind_name(enum fuzz_aspect aspect, size_t k);

/* Cases by number; the streams of two seeds are independent of each other. */
struct fuzz_stream {
    uint64_t seed;
    int small;           /* only small sizes: at most 3 items, 4 heads, 36 channels, 35 queries, 69 keys */
    int finite;          /* no NaN and no infinity, but for the -infinity of masks */
};

/* Fill z with a case of a stream, the same on every machine. made: NULL, or
 * filled in. Returns NULL, or z->error. */
const char *fuzz_case(struct npz *z, struct fuzz_made *made, const struct fuzz_stream *stream, uint64_t number);

/* The case without count indices from first on of an axis: 'N' batch item, 'H' head, 'L' query,
 * 'S' key, 'D' channel of every head, 'K' and 'V' channel of key and value
 * (where their weights are separate). NULL; or a error message if there are not so many. */
const char *fuzz_cut(struct npz *out, const struct npz *z, char axis, size_t first, size_t count);

/* The case of one query with one channel in each head and the same scores.
 * NULL; or a sentence, as where there are more queries. */
const char *fuzz_narrow(struct npz *out, const struct npz *z);

/* Does attn_mask close the keys behind the diagonal and nothing else? Only then
 * may is_causal be 1: a kernel may go by it and leave the mask unread. */
int fuzz_is_causal(const struct npz *z);

/* How many indices an axis has; 0 for K and V where they are not free. */
size_t fuzz_extent(const struct npz *z, char axis);

/* Numbers of a case, the format's zero-dimensional members; 0 where absent. */
int64_t fuzz_whole(const struct npz *z, const char *name);

/* Floats and flags that the case consists of, but for its configuration. */
size_t fuzz_size(const struct npz *z);

#endif
