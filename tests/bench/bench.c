/* SPDX-License-Identifier: MIT */
/* bench [--quick] PROGRAM SOURCE PYTHON WORK PAGE [PLOTS GNUPLOT]; "-" is no Python, no gnuplot */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "../../ref/report/report.h"
#include "../../ref/corpus/corpus.h"
#include "../../ref/store/file.h"
#include "bench.h"

static const char *verdict(struct bench *b, double ratio, enum sense sense, double goal)
{
    int kept = sense == AT_MOST ? ratio <= goal : ratio >= goal;

    b->missed += !kept;
    return kept ? "yes" : "**no**";
}

void row(struct bench *b, const char *what, double ratio, enum sense sense, double goal, const char *unit)
{
    const char *kept = verdict(b, ratio, sense, goal);

    fprintf(b->page, "| %s | %.3g %s | %s %g | %s |\n", what, ratio, unit, sense == AT_MOST ? "at most" : "at least", goal, kept);
    printf("%-100s %10.3g %s (%s %g): %s\n", what, ratio, unit, sense == AT_MOST ? "at most" : "at least", goal, kept);
    fflush(stdout);
}

void row_skipped(struct bench *b, const char *what, const char *why)
{
    fprintf(b->page, "| %s | not measured: %s | | |\n", what, why);
    printf("%-100s not measured: %s\n", what, why);
}

/* Which of numpy and torch are there, and their versions. */
static void look_for_python(struct bench *b)
{
    static const char script[] = "import platform; print('Python', platform.python_version(), end='')\n"
                                 "import numpy; print(', numpy', numpy.__version__, end='')\n"
                                 "import torch; print(', torch', torch.__version__, end='')\n";
    const char *argv[] = { b->python, "-c", script, NULL };
    char printed[1024];

    if (!strcmp(b->python, "-"))
        return;
    snprintf(printed, sizeof printed, "%s/python.txt", b->work);
    run_program(argv, printed);
    FILE *f = fopen(printed, "r");
    if (f && !fgets(b->versions, sizeof b->versions, f))
        b->versions[0] = 0;
    if (f)
        fclose(f);
    b->has_numpy = strstr(b->versions, "numpy") != NULL;
    b->has_torch = strstr(b->versions, "torch") != NULL;
}

static void intro(struct bench *b)
{
    struct corpus corpus;
    char vectors[1024], date[32];
    time_t now = time(NULL);

    snprintf(vectors, sizeof vectors, "%s/vectors", b->source);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(b->page,
            "# Performance\n\n"
            "Written by `cmake --build build --target bench` on %s. All ratios come from one run; each is one of medians, of\n"
            "processor time (user and system) on one thread, what is compared being measured in turns.\n\n", date);
    fprintf(b->page, "qkvec %s", qkvec_version);
    if (!corpus_open(&corpus, vectors)) {
        fprintf(b->page, ", %zu vectors of corpus %s", corpus.count, corpus.version);
        corpus_close(&corpus);
    }
    fprintf(b->page, ", %s%s, zlib %s%s%s.\n\n", strstr(__VERSION__, "lang") ? "" : "GCC ", __VERSION__, zlibVersion(),
            *b->versions ? ", " : "", b->versions);
    fputs("| what | measured | goal | kept |\n|---|---|---|---|\n", b->page);
}

static void outro(struct bench *b, const char *gnuplot, const char *plots)
{
    static const char alt[] = "time of the reference against arithmetic, a straight line of slope 1 from 10^4 to 10^10 multiplications";
    char script[1024], data[1200], from[1024], command[2600];
    const char *argv[] = { gnuplot, "-e", command, script, NULL };
    unsigned char *bytes = NULL;
    size_t length = 0;
    struct file_out out;
    char error[SENTENCE];

    snprintf(from, sizeof from, "%s/scaling.dat", b->work);
    snprintf(data, sizeof data, "%s/scaling.dat", plots);
    if (file_read(&bytes, &length, from, (size_t)1 << 20, error) || file_create(&out, data, error)) {
        free(bytes);
        return;
    }
    fwrite(bytes, 1, length, out.stream);
    free(bytes);
    if (file_close(&out, 1, error))
        return;
    snprintf(script, sizeof script, "%s/tests/bench/scaling.gp", b->source);
    snprintf(command, sizeof command, "data='%s'; picture='%s/scaling.svg'", data, plots);
    if (!strcmp(gnuplot, "-") || run_program(argv, NULL).status) {
        printf("no gnuplot: no plot\n");
        return;
    }
    fprintf(b->page, "\n![%s](plots/scaling.svg)\n", alt);
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "memory"))
        return memory_child(argv + 2);
    int quick = argc > 1 && !strcmp(argv[1], "--quick");
    if (argc - quick < 6) {
        fputs("usage: bench [--quick] PROGRAM SOURCE PYTHON WORK PAGE [PLOTS GNUPLOT]\n", stderr);
        return 2;
    }
    char **a = argv + quick, error[SENTENCE];
    struct bench b = { .program = a[1], .source = a[2], .python = a[3], .work = a[4], .self = argv[0], .quick = quick };
    struct file_out page;
    const char *wrong = file_create(&page, a[5], error);

    if (wrong) {
        fprintf(stderr, "bench: %s: %s\n", a[5], wrong);
        return 2;
    }
    b.page = page.stream;
    look_for_python(&b);
    intro(&b);
    bench_corpus(&b);
    bench_layer(&b);
    bench_memory(&b);
    bench_store(&b);
    bench_fuzz(&b);
    bench_scaling(&b);
    if (argc - quick > 7)
        outro(&b, a[7], a[6]);
    if ((wrong = file_close(&page, 1, error))) {
        fprintf(stderr, "bench: %s: %s\n", a[5], wrong);
        return 2;
    }
    printf("%d goals missed, %d measurements failed\n", b.missed, b.failed);
    return b.failed ? 2 : b.missed && !quick;
}
