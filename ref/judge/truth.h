/* SPDX-License-Identifier: MIT */
/*
 * What a kernel should have computed: every legitimate answer to a vector, with
 * the envelope of a profile.
 */
#ifndef QKVEC_TRUTH_H
#define QKVEC_TRUTH_H

#include "../recipe/envelope.h"
#include "../recipe/policy.h"
#include "../store/vector.h"

/* One legitimate answer: its stages, and how far rounding may move them. */
struct answer {
    const struct policy *policy;
    struct array stage[STAGES];
    struct array sigma[STAGES];
};

/* Every legitimate answer to a vector under a profile. */
struct truth {
    const struct profile *profile;
    struct answer answer[POLICIES];    /* answers of them, pytorch first */
    size_t answers;
    const char *not_applicable;        /* NULL, or why the profile cannot decide this vector */
};

/* The stored golden stages where there are any and rounded is 0; the interpreter
 * computes what is missing, and everything when the numbers of v have been
 * rounded to another type (rounded is 1). NULL, or a sentence. */
const char *truth_make(struct truth *truth, const struct vector *v, int rounded, const struct profile *p);

/* The same answers with the envelope of another profile. */
const char *truth_change_profile(struct truth *truth, const struct vector *v, const struct profile *p);
void truth_free(struct truth *truth);

#endif
