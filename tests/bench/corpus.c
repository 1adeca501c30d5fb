/* SPDX-License-Identifier: MIT */
/* Judging every vector: qkvec against the start of torch and against numpy. */
#include <math.h>
#include <stdio.h>

#include "bench.h"

void bench_corpus(struct bench *b)
{
    enum { RUNS = 15 };
    char vectors[1024], script[1024];
    const char *judge[] = { b->program, "check", "--vectors", vectors, NULL };
    const char *torch[] = { b->python, "-c", "import torch", NULL };
    const char *numpy[] = { b->python, script, vectors, NULL };
    double own[RUNS], of_torch[RUNS], of_numpy[RUNS], peak = 0;
    size_t runs = b->quick ? 1 : RUNS;

    snprintf(vectors, sizeof vectors, "%s/vectors", b->source);
    snprintf(script, sizeof script, "%s/tests/bench/allclose.py", b->source);
    for (size_t r = 0; r < runs; r++) {    /* in turns: what else the machine does meets all of them */
        struct spent s = run_program(judge, NULL);
        if (s.status != 0)
            fprintf(stderr, "bench: qkvec check fails\n"), b->failed++;
        own[r] = s.seconds;
        peak = fmax(peak, s.peak_mb);
        if (b->has_torch)
            of_torch[r] = run_program(torch, NULL).seconds;
        if (b->has_numpy)
            of_numpy[r] = run_program(numpy, NULL).seconds;
    }
    double mine = median(own, runs);
    if (b->has_torch)
        row(b, "judge all vectors, against `import torch` alone", mine / median(of_torch, runs), AT_MOST, 0.25, "of its time");
    else
        row_skipped(b, "judge all vectors, against `import torch` alone", "torch cannot be imported");
    if (b->has_numpy)
        row(b, "judge all vectors, against numpy loading them and `allclose` (tests/bench/allclose.py)",
            median(of_numpy, runs) / mine, AT_LEAST, 10, "times as fast");
    else
        row_skipped(b, "judge all vectors, against numpy", "numpy cannot be imported");
    row(b, "judge all vectors: peak memory", peak, AT_MOST, 64, "MB");
}
