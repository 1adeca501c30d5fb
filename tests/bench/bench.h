/* SPDX-License-Identifier: MIT */
/*
 * One run measures everything and writes docs/performance.md.
 *
 * What is compared is measured in turns, in the same run, as processor time
 * (user and system) of one thread; each number is the median of several.
 */
#ifndef QKVEC_BENCH_H
#define QKVEC_BENCH_H

#include <stddef.h>
#include <stdio.h>

#include "../../ref/corpus/vector.h"

struct bench {
    const char *program;      /* qkvec */
    const char *self;         /* this program, to measure in a process of its own */
    const char *source;       /* the source tree */
    const char *python;       /* "-" where there is none */
    const char *work;         /* a directory for passing files */
    int quick;                /* once each, and small: does the benchmark itself work? */
    int has_numpy, has_torch;
    char versions[256];       /* of Python, numpy and torch */
    FILE *page;
    int missed;               /* goals */
    int failed;               /* measurements that could not be made */
};

/* A row of the table: a ratio, and the goal that it is held against. */
enum sense { AT_MOST, AT_LEAST };
void row(struct bench *b, const char *what, double ratio, enum sense sense, double goal, const char *unit);
void row_skipped(struct bench *b, const char *what, const char *why);

/* Processor time of this process, in seconds. */
double cpu_now(void);
double median(double *x, size_t n);

/* How long work(context) takes: the median of runs, each of as many calls as take a while. */
double time_of(void (*work)(void *context), void *context, int quick);

/* A program run to its end, its standard output discarded or kept in a file. */
struct spent { double seconds; double peak_mb; int status; };
struct spent run_program(const char *const argv[], const char *output);

/* One layer of these sizes with hashed numbers; the vector holds them. 0, or -1 without memory. */
int make_case(struct vector *v, size_t N, size_t L, size_t S, size_t E, size_t H);

/* The parts of the table. */
void bench_corpus(struct bench *b);
void bench_layer(struct bench *b);
void bench_memory(struct bench *b);
void bench_store(struct bench *b);
void bench_fuzz(struct bench *b);
void bench_scaling(struct bench *b);

/* "bench memory N L E H": print what the recipe's stages need and what the process took. */
int memory_child(char **argv);

#endif
