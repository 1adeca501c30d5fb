/* SPDX-License-Identifier: MIT */
/*
 * A case while it is drawn. Each table of kinds (sizes.c, masks.c, numbers.c)
 * has one function and one line for a kind, with its share of all cases.
 */
#ifndef QKVEC_FUZZ_PLAN_H
#define QKVEC_FUZZ_PLAN_H

#include "case.h"
#include "draw.h"

/* 1 when the envelope knows that equal rows err alike: then rows that occur
 * many times are drawn, repeated or of a constant array, at all sizes. */
#define EQUAL_ROWS 0

struct plan {
    uint64_t state;                           /* of the random numbers */
    size_t N, L, S, H, D, E, Ek, Ev;          /* E = H*D; Ek is kdim, Ev is vdim */
    int batched, batch_first, grid;           /* grid: most numbers are multiples of 1/64 */
    struct npz *z;
    struct fuzz_made *made;
};

/* Draw a line of a table by its share; lines are size bytes apart, and the
 * first member of a line is its name, share points to the first line's share. */
size_t plan_kind(uint64_t *state, const double *share, size_t size, size_t count);

/* Fill in all sizes, whether there is a batch axis, and its place. */
void plan_sizes(struct plan *p, int only_small);

/* Add attn_mask, key_padding_mask and is_causal. NULL, or an error message. */
const char *plan_masks(struct plan *p);

/* Change the numbers of a case that has everything else. */
void plan_numbers(struct plan *p, int finite);

/* The names of the kinds, in the order of the bits of struct fuzz_made; NULL after the last. */
const char *plan_size_name(size_t k);
const char *plan_attn_name(size_t k);
const char *plan_padding_name(size_t k);
const char *plan_numbers_name(size_t k);

#endif
