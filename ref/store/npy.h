/* SPDX-License-Identifier: MIT */
/* One .npy member: "\x93NUMPY", a version, a Python dict, and the numbers. */
#ifndef QKVEC_NPY_H
#define QKVEC_NPY_H

#include "npz.h"

/* The member's bytes become a's data; a has its name, and the rest is filled
 * in here. The bytes are kept (and freed by npz_free), or freed on failure.
 * NULL, or what is wrong. */
const char *npy_take(struct npz_array *a, unsigned char *bytes, size_t length, char error[SENTENCE]);

/* The inverse: a whole member, to free, or NULL without memory. */
unsigned char *npy_make(size_t *length, const struct npz_array *a);

#endif
