/* SPDX-License-Identifier: MIT */
/*
 * The recipe with one mistake in it, once for every record of faults.txt.
 *
 * The build makes the table: mutate.c applies each record to mha.c, and the
 * mutated copies are compiled under names of their own.
 */
#ifndef QKVEC_FAULTS_H
#define QKVEC_FAULTS_H

#include "../recipe/mha.h"

struct fault {
    const char *name;
    const char *why;     /* one sentence for who writes kernels */
    const char *seen;    /* public reports, "owner/repo#number", blanks between; "" where none is known */
    const char *diff;    /* lines that begin with "- " and "+ ", as in the record */
    void (*forward)(struct array t[STAGES], const struct mha_in *in);
    void (*forward_float)(void *t, const void *in);    /* the same compiled with REAL=float, whose types differ */
};

extern const struct fault faults[];    /* in the order of faults.txt */
extern const size_t fault_count;
extern const struct fault fault_none;    /* the recipe itself, in the same form */

const struct fault *fault_named(const char *name);    /* NULL where there is none */

/* Fill t, made by mha_alloc, with every stage as the fault has it. narrow: the
 * float copy runs too, and where any number of it leaves the range while the
 * double copy's does not, its stages count; mistakes of range show only there.
 * NULL, or a sentence when memory is out. */
const char *fault_forward(struct array t[STAGES], const struct mha_in *in, const struct fault *f, int narrow);

#endif
