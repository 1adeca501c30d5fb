/* SPDX-License-Identifier: MIT */
/* What is wrong with an array, where that is no fault of arithmetic. */
#ifndef QKVEC_SYMPTOM_H
#define QKVEC_SYMPTOM_H

#include "../envelope/envelope.h"

enum symptom {
    SYMPTOM_ZERO, SYMPTOM_NAN, SYMPTOM_CONSTANT, SYMPTOM_LAYOUT, SYMPTOM_STALE, SYMPTOM_FACTOR,
    SYMPTOM_PERMUTED, SYMPTOM_TAIL, SYMPTOMS
};

/* One failed array next to what it should have been. */
struct exhibit {
    const struct array *got, *expected, *sigma;
    const struct array *before;      /* expected of the vector that the kernel saw before, or NULL */
    const struct profile *profile;
};

/* The k-th detail that this vector suggests to look for: a factor, the number of
 * a layout, an axis. NaN: no more. */
double symptom_detail(enum symptom symptom, const struct exhibit *x, int k);

/* 1: the symptom is there, in that detail; 0: it is not; -1: this vector cannot show it. */
int symptom_holds(enum symptom symptom, double detail, const struct exhibit *x);

extern const char *const symptom_names[SYMPTOMS];    /* "all_zero", ... */

void symptom_sentence(char text[320], enum symptom symptom, double detail, enum mha_stage stage, const struct exhibit *x);

#endif
