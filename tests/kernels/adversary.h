/* SPDX-License-Identifier: MIT */
/* Inputs that are hard on honest kernels: made up, not drawn from life. */
#ifndef ADVERSARY_H
#define ADVERSARY_H

#include <stdint.h>

#include "corpus/vector.h"

enum adversary_size { ADVERSARY_SMALL, ADVERSARY_MEDIUM, ADVERSARY_LARGE, ADVERSARY_SIZES };

/* How many kinds there are, and the name of one. */
size_t adversary_kinds(void);
const char *adversary_kind(size_t kind);

/* A vector without golden stages; the same one for the same arguments,
 * everywhere. Free it with vector_free. NULL, or a sentence. */
const char *adversary_make(struct vector *v, size_t kind, enum adversary_size size, uint64_t seed);

#endif
