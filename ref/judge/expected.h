/* SPDX-License-Identifier: MIT */
/*
 * What a kernel should have computed: every legitimate answer to a vector, with
 * the envelope of a profile.
 */
#ifndef QKVEC_EXPECTED_H
#define QKVEC_EXPECTED_H

#include "../envelope/envelope.h"
#include "../recipe/policy.h"
#include "../corpus/vector.h"

/* One answer: its stages, and how far rounding may move them. */
struct answer {
    const struct policy *policy;       /* that alone gives this answer; NULL if it takes several */
    uint64_t combinations;             /* that give this answer (bit k: combination k of policy.h) */
    struct array stage[STAGES];
    struct array sigma[STAGES];
};

/* Every answer to a vector under a profile, accepted or not. */
struct expected {
    const struct profile *profile;
    enum scope scope;
    struct answer *answer;             /* PyTorch's main one first */
    size_t answers;                    /* by conformant policies alone */
    size_t others;                     /* behind them: by policies that --allow accepts */
    const char *not_applicable;        /* NULL, or why the profile cannot decide this vector */
    const char *out_of_range;          /* NULL, or the same, of the inputs */
};

/* Arguments and parameters become what a kernel of profile p is given; returns
 * what vector_round() says, which is rounded below. */
int expected_round(struct vector *v, const struct profile *p);

/* The stored golden stages where there are any and rounded is 0; the reference
 * computes what is missing, and everything when the numbers of v have been
 * rounded to another type (rounded is not 0; 3 when some became infinite, which
 * no kernel can do anything about), or when the kernel begins at the heads
 * (SCOPE_CORE: they are rounded to the type of p). NULL, or a sentence. */
const char *expected_make(struct expected *expected, const struct vector *v, int rounded,
                       const struct profile *p, enum scope scope);

/* The same where the reference has been asked already. computed: NULL, or all
 * stages by mha_forward() of v. */
const char *expected_make_beside(struct expected *expected, const struct vector *v, int rounded,
                              const struct profile *p, enum scope scope, const struct array *computed);

/* The stages up to q_heads, k_heads and v_heads as a kernel of that scope sees
 * them; t is made by mha_alloc. */
void expected_heads(struct array t[STAGES], const struct mha_in *in, const struct profile *p, enum scope scope);

/* The same answers with the envelope of another profile. */
const char *expected_change_profile(struct expected *expected, const struct vector *v, const struct profile *p);
void expected_free(struct expected *expected);

#endif
