/* SPDX-License-Identifier: MIT */
/*
 * Random cases against a kernel, with the reference and the envelope as the
 * oracle; the first failure is made as small as it gets.
 */
#ifndef QKVEC_FUZZ_H
#define QKVEC_FUZZ_H

#include <signal.h>
#include <stdio.h>

#include "../diagnose/diagnose.h"
#include "case.h"

struct fuzz {
    struct adapter *adapters;                /* to the same kernel, one for each job */
    size_t jobs;                             /* at least 1; the results are the same for any number */
    const struct profile *profile;
    uint64_t allowed;                        /* combinations of policies that pass (policy_allowed()); 0: the conformant ones */
    struct fuzz_stream stream;
    uint64_t first, count;                   /* cases first to first + count - 1 of the stream */
    volatile sig_atomic_t *stop;             /* set by a signal handler, or NULL */
    void (*progress)(const struct fuzz *fuzz);    /* called by one job at a time, or NULL */
    int find_only;                           /* the failing case is neither made smaller nor diagnosed */

    /* filled in by fuzz_run: */
    uint64_t done, passed, skipped;          /* of the cases up to the first failure, including it */
    uint64_t finite;                         /* of those that passed: a finite number was compared */
    uint64_t kept;                           /* combinations of policies that give the answer to every one of them */
    uint64_t made[FUZZ_ASPECTS][FUZZ_KINDS]; /* of them, those of each kind */
    int failed;                              /* 1 if a case failed; then: */
    uint64_t number;                         /* its number */
    struct npz small;                        /* the case made smaller */
    struct verdict verdict;                  /* on small; find_only: on the case itself */
    struct diagnosis diagnosis;              /* from small and the small-sized cases that follow it */
    char error[600];
};

/* Judge cases until one fails, count is reached or *stop is set. Returns NULL,
 * or an error message. The caller frees small. */
const char *fuzz_run(struct fuzz *fuzz);

/* Judge one case by the first adapter. kept: NULL, or receives the kernel's results. */
const char *fuzz_judge(struct verdict *verdict, struct array kept[STAGES], struct fuzz *fuzz, const struct npz *z);

/* Replace z by a smaller case with a verdict of the same kind, within a bound
 * on the work that this takes. Returns NULL, or an error message. */
const char *fuzz_shrink(struct npz *z, struct verdict *verdict, struct fuzz *fuzz);

/* Write how many of the cases were of each kind: a line for each aspect, or
 * one JSON object. */
void fuzz_write_kinds(FILE *out, const struct fuzz *fuzz);
void fuzz_write_kinds_json(FILE *out, const struct fuzz *fuzz);

/* Write a vector file: the case, every legitimate answer with its stages and
 * the float32 envelope, and what it is about. Returns NULL, or error. */
const char *fuzz_write(const char *path, const struct npz *z, const char *about, char error[512]);

#endif
