/* SPDX-License-Identifier: MIT */
/*
 * Random cases against a kernel, with the reference and the envelope as the
 * oracle; a failure is made as small as it gets.
 */
#ifndef QKVEC_FUZZ_H
#define QKVEC_FUZZ_H

#include <signal.h>

#include "../diagnose/diagnose.h"
#include "case.h"

struct fuzz {
    struct adapter *adapter;
    const struct profile *profile;
    uint64_t seed, count;                    /* cases seed, seed + 1, ... */
    volatile sig_atomic_t *stop;             /* or NULL */
    void (*progress)(const struct fuzz *fuzz);    /* now and then; or NULL */

    /* filled by fuzz_run */
    uint64_t done, passed, skipped;
    int failed;                              /* then: */
    uint64_t number;                         /* of the case that failed */
    struct npz small;                        /* made smaller from it */
    struct verdict verdict;                  /* on small */
    struct diagnosis diagnosis;              /* from this and the cases after it */
    char error[600];
};

/* Until the first failure, count cases, or *stop. NULL, or a sentence about
 * what made it impossible. Free small afterwards. */
const char *fuzz_run(struct fuzz *fuzz);

/* Judge one case. kept: NULL, or takes what the kernel gave. */
const char *fuzz_judge(struct verdict *verdict, struct array kept[STAGES], struct fuzz *fuzz, const struct npz *z);

/* Smaller cases of which the verdict is of the same kind; z is replaced. */
const char *fuzz_shrink(struct npz *z, struct verdict *verdict, struct fuzz *fuzz);

/* A vector file: the case, every legitimate answer with its stages and the
 * float32 envelope, and what it is about. */
const char *fuzz_write(const char *path, const struct npz *z, const char *about, char error[512]);

#endif
