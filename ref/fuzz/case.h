/* SPDX-License-Identifier: MIT */
/*
 * Random cases: valid vector files without golden stages, out of a number.
 */
#ifndef QKVEC_FUZZ_CASE_H
#define QKVEC_FUZZ_CASE_H

#include <stdint.h>

#include "../store/npz.h"

/* Fill z with the case of that number, the same on every machine: small odd
 * sizes over the whole surface (projections, masks, appended rows, layouts,
 * empty sizes), numbers on and off the grid. NULL, or z->error. */
const char *fuzz_case(struct npz *z, uint64_t number);

/* The case without index i of an axis: 'N' batch item, 'H' head, 'L' query,
 * 'S' key, 'D' channel of every head, 'K' and 'V' channel of key and value
 * (where their weights are separate). NULL; or a sentence where there is no such index. */
const char *fuzz_cut(struct npz *out, const struct npz *z, char axis, size_t i);

/* The case of one query with one channel in each head and the same scores.
 * NULL; or a sentence, as where there are more queries. */
const char *fuzz_narrow(struct npz *out, const struct npz *z);

/* How many indices an axis has; 0 for K and V where they are not free. */
size_t fuzz_extent(const struct npz *z, char axis);

/* Numbers of a case, the format's zero-dimensional members; 0 where absent. */
int64_t fuzz_whole(const struct npz *z, const char *name);

/* Floats and flags that the case consists of, but for its configuration. */
size_t fuzz_size(const struct npz *z);

#endif
