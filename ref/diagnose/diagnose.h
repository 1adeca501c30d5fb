/* SPDX-License-Identifier: MIT */
/*
 * Which mistake is it?
 *
 * A listed fault is replayed on the vectors that were judged. It is named when
 * its results lie where the kernel's do: on all vectors that failed, and when it
 * would not have failed any that passed. What is no fault of arithmetic (zeros,
 * another layout, a constant factor, ...) is recognised by its symptom.
 */
#ifndef QKVEC_DIAGNOSE_H
#define QKVEC_DIAGNOSE_H

#include "../judge/judge.h"

/* What is known about one judged vector: enough to replay a mistake on it. */
struct judged_vector {
    const char *path, *name;         /* to read the vector again */
    const unsigned char *bytes;      /* of that file, which are known to be right; or NULL */
    size_t length;
    const struct npz *file;          /* or the vector itself, where it is not NULL */
    const struct verdict *verdict;
    struct array got[STAGES];        /* what the kernel gave; v NULL where nothing */
};

/* Its vector's arrays: a copy, of proven bytes, or of the file. NULL, or a sentence. */
const char *judged_vector_read(struct npz *file, const struct judged_vector *e);

/* One name for what went wrong. */
struct mistake {
    char name[48];                   /* of a fault in faults.txt, or of a symptom */
    char sentence[320];
    const char *seen;                /* public reports of this fault; "" where none is known */
    size_t explains, of;             /* failed vectors that it explains, and that it was tried on */
    double error_sigma;              /* the largest distance to the kernel's results on those; NaN for a symptom */
    const struct profile *precision; /* looser than the one asked for, where only that fits; else NULL */
};

#define MISTAKES 12

/* Entries fit alike: with these vectors they cannot be told apart. */
struct diagnosis {
    size_t count;                    /* 0: no listed mistake fits */
    struct mistake mistake[MISTAKES];
    size_t more;                     /* that fit as well, and found no room */
    size_t failed;                   /* vectors that failed with results to look at */
};

/* vectors: in the order in which the kernel saw the vectors. NULL, or a
 * sentence (out of memory, a vector that cannot be read any more). */
const char *diagnose(struct diagnosis *d, const struct judged_vector *vectors, size_t count,
                     const struct profile *p);

#endif
