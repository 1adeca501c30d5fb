/* SPDX-License-Identifier: MIT */
/* Every fault against every vector that holds every stage: what is rejected, and how clearly.
 * Brief ones, most of them large, are about sizes and pairs of options (tests/sizes/, tests/pairs/). */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdio.h>

#include "judge/expected.h"
#include "faults/faults.h"
#include "corpus/corpus.h"

/* What a judge sees of a kernel that makes the mistake. */
enum { SEEN = 3 };
extern const enum mha_stage seen[SEEN];

struct cell {
    int killed;
    double error;      /* in sigma, of the worst element that is judged */
};

struct matrix {
    struct corpus corpus;
    struct choice choice;
    size_t vectors;                /* those that hold every stage; the first of choice */
    const struct profile *profile;
    struct cell *cells;            /* (vectors, faults); not killed where the vector is not applicable */
    int *applicable;               /* (vectors) */
    size_t *group;                 /* (faults): the first fault that no vector tells from this one */
};

/* Fills m; with groups only where they are wanted, which takes longer. NULL, or a sentence. */
const char *matrix_make(struct matrix *m, const char *vectors, const struct profile *p, int groups);
void matrix_free(struct matrix *m);

static inline const struct cell *matrix_cell(const struct matrix *m, size_t vector, size_t fault)
{
    return &m->cells[vector * fault_count + fault];
}

/* The largest error among the vectors that reject a fault; 0 where none does.
 * count: how many do. */
double matrix_clearest(const struct matrix *m, size_t fault, size_t *count);

/* Why a profile permits what a fault does; NULL where it does not. */
const char *matrix_permits(const struct profile *p, const char *fault);

/* docs/faults.md out of the matrices of float32, float16 and bfloat16. */
enum { PAGE_PROFILES = 3 };
void page_write(FILE *f, const struct matrix m[PAGE_PROFILES]);

#endif
