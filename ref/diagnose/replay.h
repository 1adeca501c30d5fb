/* SPDX-License-Identifier: MIT */
/* A fault replayed on a vector that a kernel was judged by. */
#ifndef QKVEC_REPLAY_H
#define QKVEC_REPLAY_H

#include "../faults/faults.h"
#include "diagnose.h"

/* One judged vector, read again. */
struct replay_case {
    const struct judged_vector *judged;
    struct vector v;
    int rounded;
    struct expected expected;
    int open;                  /* NaN and infinity mean nothing here: they are in the inputs, or may be answered in several ways */
    struct mha_in canonical;   /* the same case batch first, as a kernel behind the C ABI sees it */
};

/* The inputs are rounded to p, as they were for the kernel. */
const char *replay_case_open(struct replay_case *s, const struct judged_vector *e, const struct profile *p);
void replay_case_close(struct replay_case *s);

/* The kernel gave something to look at. */
int replay_case_has_results(const struct judged_vector *e);

/* Both are there, with one shape. */
int same_shape(const struct array *a, const struct array *b);

/* A fault's own stages on a vector, and how far rounding moves those. */
struct replay { struct array stage[STAGES], sigma[STAGES]; };

/* canonical: as a kernel behind the C ABI sees the case. */
const char *replay_open(struct replay *r, const struct replay_case *s, const struct fault *f, const struct profile *p, int canonical);
void replay_close(struct replay *r);

/* The largest distance between the kernel's results and a fault's, in sigma;
 * infinite where they do not fit, nothing could be compared, or the fault does
 * nothing that would be noticed on this vector; NaN where
 * rounding leaves the fault's own softmax undetermined. */
double replay_fit(struct replay *r, const struct replay_case *s, const struct profile *p);

/* The fault would not have been noticed on this vector, by what the kernel gave. */
int replay_unnoticed(const struct replay *r, const struct replay_case *s, const struct profile *p);

#endif
