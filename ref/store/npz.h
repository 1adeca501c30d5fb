/* SPDX-License-Identifier: MIT */
/*
 * Named arrays in an .npz file: a ZIP archive (stored or deflated, ZIP64 and
 * data descriptors included) of .npy members. zlib inflates and deflates.
 *
 * Nothing in a file is believed: sizes are checked before they are multiplied,
 * and no more memory is asked for than the bytes of the file can fill.
 */
#ifndef QKVEC_NPZ_H
#define QKVEC_NPZ_H

#include <stddef.h>

#include "text.h"

#define NPZ_DIMS 4
#define NPZ_NAME 128
#define NPZ_MEMBERS 4096                  /* in one file */
#define NPZ_FILE_BYTES ((size_t)1 << 30)  /* of a file */
#define NPZ_BYTES ((size_t)1 << 31)       /* of all its arrays */

enum npz_type { NPZ_F2, NPZ_F4, NPZ_F8, NPZ_I8, NPZ_B1, NPZ_U1, NPZ_TYPES };

/* One array: C order, in this machine's byte order (the file's is little endian). */
struct npz_array {
    char name[NPZ_NAME];        /* without ".npy" */
    enum npz_type type;
    int ndim;                   /* 0 for a scalar, of size 1 */
    size_t shape[NPZ_DIMS];     /* unused dimensions are 1 */
    size_t size;                /* elements; 0 where a dimension is 0 */
    void *data;
};

struct npz {
    size_t count, room;
    struct npz_array *arrays;   /* in the order of the file; room for more */
    char error[SENTENCE];       /* the sentence of the last failure; names the member, what was found and what was wanted */
};

/* NULL, or what is wrong (the text is z->error; z is then empty). The sentence
 * does not repeat the path: the caller prints "qkvec: PATH: sentence". */
const char *npz_read(struct npz *z, const char *path);
const char *npz_read_memory(struct npz *z, const void *bytes, size_t length);

/* The same for bytes that have the hash that was published: they are not held
 * against the checksums of the members once more. */
const char *npz_read_proven(struct npz *z, const void *bytes, size_t length);

/* The same from those bytes if they have been kept, else (bytes is NULL) as
 * npz_read(z, path). */
const char *npz_read_kept(struct npz *z, const void *bytes, size_t length, const char *path);

/* The array of that name, or NULL. */
const struct npz_array *npz_get(const struct npz *z, const char *name);

/* Element i as a double, whatever the type (float16 is widened, true is 1). */
double npz_value(const struct npz_array *a, size_t i);

/* All of them, into room for a->size. */
void npz_values(double *to, const struct npz_array *a);

/* Element i becomes x, rounded to nearest even where the type is shorter. */
void npz_set(struct npz_array *a, size_t i, double x);

/* "<f4", "|b1", ... as the file spells it, and the bytes of an element. */
const char *npz_type_name(enum npz_type type);
size_t npz_type_size(enum npz_type type);

/* "(3, 4)" into text, as numpy prints a shape. Returns text. */
const char *npz_shape_text(char text[128], const struct npz_array *a);

/* Add a zeroed array to be filled through the returned pointer (valid until the
 * next npz_add), or NULL: z->error says why. shape has ndim entries. */
struct npz_array *npz_add(struct npz *z, const char *name, enum npz_type type, int ndim, const size_t *shape);

/* Write all arrays, fixed dates, given order, deflated. The file appears under
 * its name only when it is complete. NULL, or what went wrong. */
const char *npz_write(struct npz *z, const char *path);

/* All arrays once more, but for those named in without (NULL ends it; or NULL:
 * none). NULL, or a sentence (then copy is empty). */
const char *npz_copy(struct npz *copy, const struct npz *z, const char *const *without);

void npz_free(struct npz *z);

#endif
