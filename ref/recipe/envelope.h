/* SPDX-License-Identifier: MIT */
/*
 * How far may rounding move an element?
 *
 * The same walk as mha.c, with a variance next to each number: how far an
 * honest kernel of a given precision strays from the exact result, as a
 * standard deviation ("sigma") per element. docs/tolerance.md derives it.
 */
#ifndef QKVEC_ENVELOPE_H
#define QKVEC_ENVELOPE_H

#include "mha.h"

/* A precision class. Unit roundoffs are relative, floor and largest absolute. */
struct profile {
    const char *name;
    double u;            /* of the accumulator */
    double s;            /* of stored intermediates; 0: stored as accumulated */
    double o;            /* of the operands of a matrix product; 0: exact */
    double floor;        /* what underflow may do */
    double largest;      /* finite number of the type */
    double smallest;     /* positive number of the 16-bit type, else 0 */
};

enum { PROFILE_FLOAT64, PROFILE_FLOAT32, PROFILE_TF32, PROFILE_FLOAT16, PROFILE_BFLOAT16, PROFILES };
extern const struct profile profiles[PROFILES];     /* from the tightest to the loosest */

const struct profile *profile_named(const char *name);    /* NULL where there is none */

/* x in the profile's type (float64, float32, float16, bfloat16; tf32 is float32). */
double profile_round(const struct profile *p, double x);

/* An element passes when |got - golden| <= ENVELOPE_SIGMAS * sigma + floor. */
#define ENVELOPE_SIGMAS 8.0

/* Fill sigma[k] (made by mha_alloc) for every stage of t, which the recipe has
 * computed from in. 0 where the stage is not finite, and where it is exact.
 * NULL, or a sentence when memory is out. */
const char *envelope(struct array sigma[STAGES], const struct array t[STAGES],
                     const struct mha_in *in, const struct profile *p);

/* NULL where the profile can decide these stages, or the reason why not: a
 * number leaves the type's range, or rounding leaves the softmax undetermined. */
const char *envelope_applies(const struct array sigma[STAGES], const struct array t[STAGES],
                             const struct profile *p);

#endif
