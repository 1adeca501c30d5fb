/* SPDX-License-Identifier: MIT */
/* Precision classes: what an honest kernel of a given type may lose where. */
#ifndef QKVEC_PROFILE_H
#define QKVEC_PROFILE_H

/* A precision class. Unit roundoffs are relative, floor and largest absolute. */
struct profile {
    const char *name;
    double u;            /* of the accumulator */
    double s;            /* of stored intermediates; 0: stored as accumulated */
    double o;            /* of the operands of a matrix product; 0: exact */
    double floor;        /* what underflow may do */
    double largest;      /* finite number of the type */
    double smallest;     /* positive number of the 16-bit type, else 0 */
    double noise;        /* limit of the rms error in sigma over a whole array */
};

enum { PROFILE_FLOAT64, PROFILE_FLOAT32, PROFILE_TF32, PROFILE_FLOAT16, PROFILE_BFLOAT16, PROFILES };
extern const struct profile profiles[PROFILES];     /* from the tightest to the loosest */

const struct profile *profile_named(const char *name);    /* NULL where there is none */

/* x in the profile's type (float64, float32, float16, bfloat16; tf32 is float32). */
double profile_round(const struct profile *p, double x);

/* The same, for vector_round(). */
double profile_rounding(const void *profile, double x);

#endif
