/* SPDX-License-Identifier: MIT */
/*
 * Many vectors through the same kernel: side by side, and twice.
 *
 * The second round runs in reverse order (so that what a case leaves behind for
 * the next one shows), with other alignment and other numbers in the outputs
 * before the call, and must give the same bits.
 */
#ifndef QKVEC_HOST_RUN_H
#define QKVEC_HOST_RUN_H

#include <signal.h>

#include "../diagnose/diagnose.h"

struct host_run {
    struct judged_vector *vectors;      /* path and name are given; got is filled */
    struct verdict *verdicts;       /* one for each; vectors points to them */
    size_t count;
    struct adapter *adapters;             /* to the same kernel, one for each job */
    size_t jobs;
    const struct profile *profile;
    int twice;
    int nondeterministic;           /* other bits in the second round are no failure */
    volatile sig_atomic_t *stop;    /* or NULL */
    void (*progress)(size_t done, size_t of, const char *name);    /* called by one job at a time; or NULL */
    size_t unreadable;              /* where an error was found */
    unsigned char *judged;          /* 1 where there is a verdict: all of them unless *stop */
    char error[600];
};

/* NULL, or the sentence about vector unreadable. */
const char *host_run(struct host_run *run);

/* Put what has no verdict at the end; the number that have one. After *stop. */
size_t host_run_compact(struct host_run *run);

#endif
