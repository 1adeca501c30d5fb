/* SPDX-License-Identifier: MIT */
/*
 * Random cases of small sizes: qkvec fuzz, its kernel in a process of its own, against a loop
 * in Python that calls the same kernel in its own process.
 */
#define _GNU_SOURCE    /* sched_setaffinity */
#include <math.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The number that a program printed, or NaN. */
static double printed(const char *file)
{
    char line[256] = "";
    FILE *f = fopen(file, "r");

    if (!f)
        return NAN;
    double x = fgets(line, sizeof line, f) ? strtod(line, NULL) : NAN;
    fclose(f);
    return x > 0 ? x : NAN;
}

/* One core for everything that is started from now on, or all again. Two
 * processes that take turns cost more where they are on two. */
static void keep_to_one_core(int yes)
{
#ifdef __linux__
    static cpu_set_t all;
    cpu_set_t one;

    if (!yes) {
        sched_setaffinity(0, sizeof all, &all);
    } else if (!sched_getaffinity(0, sizeof all, &all)) {
        CPU_ZERO(&one);
        for (size_t k = CPU_SETSIZE; k-- > 0; )
            if (CPU_ISSET(k, &all) && !CPU_COUNT(&one))
                CPU_SET(k, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
#else
    (void)yes;
#endif
}

void bench_fuzz(struct bench *b)
{
    enum { RUNS = 5 };
    static const char kernel[] = QKVEC_FUZZ_KERNEL;
    char few[16], many[16], script[1024], out[1024];
    const char *argv[] = { b->program, "fuzz", "--kernel", kernel, "--small", "--seed", "1", "--count", many, NULL };
    const char *start[] = { b->program, "fuzz", "--kernel", kernel, "--small", "--seed", "1", "--count", few, NULL };
    const char *python[] = { b->python, script, b->quick ? "0.1" : "5", kernel, NULL };
    size_t count = b->quick ? 200 : 10000, runs = b->quick ? 1 : RUNS;
    double rate[RUNS], of_python[RUNS];

    snprintf(few, sizeof few, "1");
    snprintf(many, sizeof many, "%zu", count);
    snprintf(script, sizeof script, "%s/tests/bench/fuzz_torch.py", b->source);
    snprintf(out, sizeof out, "%s/fuzz.txt", b->work);
    keep_to_one_core(1);
    for (size_t r = 0; r < runs; r++) {
        struct spent all = run_program(argv, NULL), one = run_program(start, NULL);
        if (all.status != 0)
            fprintf(stderr, "bench: qkvec fuzz fails\n"), b->failed++;
        rate[r] = (double)(count - 1) / (all.seconds - one.seconds);
        if (b->has_torch)
            of_python[r] = run_program(python, out).status == 0 ? printed(out) : NAN;
    }
    keep_to_one_core(0);
    double mine = median(rate, runs);
    row(b, "small random cases judged in a second by `qkvec fuzz` with a kernel in C, its process included", mine, AT_LEAST, 5000, "cases");
    if (b->has_torch)
        row(b, "the same against a loop in Python with the same kernel and PyTorch as the oracle (tests/bench/fuzz_torch.py)",
            mine / median(of_python, runs), AT_LEAST, 5, "times as many");
    else
        row_skipped(b, "random cases against a loop in Python", "torch cannot be imported");
}
