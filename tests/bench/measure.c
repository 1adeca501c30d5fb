/* SPDX-License-Identifier: MIT */
/* wait4() tells one child's processor time and peak memory. */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double time_of(void (*work)(void *context), void *context, int quick)
{
    enum { RUNS = 7 };
    double one[RUNS], start = cpu_now();
    size_t calls = 1;

    work(context);    /* warms up, and tells how many calls a run wants */
    double first = cpu_now() - start;
    if (quick)
        return first;
    if (first < 0.02)
        calls = (size_t)(0.02 / (first > 1e-7 ? first : 1e-7)) + 1;
    int runs = first > 2 ? 1 : first > 0.3 ? 3 : RUNS;
    for (int r = 0; r < runs; r++) {
        start = cpu_now();
        for (size_t k = 0; k < calls; k++)
            work(context);
        one[r] = (cpu_now() - start) / (double)calls;
    }
    return median(one, (size_t)runs);
}

struct spent run_program(const char *const argv[], const char *output)
{
    posix_spawn_file_actions_t actions;
    struct spent spent = { NAN, NAN, -1 };
    struct rusage usage;
    pid_t pid;
    int status;

    fflush(NULL);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output ? output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!output)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(const void *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed || wait4(pid, &status, 0, &usage) != pid)
        return spent;
    spent.seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                  + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    spent.peak_mb = (double)usage.ru_maxrss / 1024;
    spent.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return spent;
}

/* ---- a case ---- */

/* Numbers between -1 and 1 in steps of 2^-23, from a hash of their place. */
static void fill(struct npz_array *a, uint32_t seed, double scale)
{
    for (size_t m = 0; a && m < a->size; m++) {
        uint32_t x = (uint32_t)m * 0x9E3779B9u + seed * 0x85EBCA6Bu;
        x = (x ^ x >> 16) * 0x7FEB352Du;
        x = (x ^ x >> 15) * 0x846CA68Bu;
        x ^= x >> 16;
        npz_set(a, m, scale * ((double)(x >> 8) * 0x1p-23 - 1));
    }
}

static struct npz_array *configured(struct npz *z, const char *name, size_t value)
{
    struct npz_array *a = npz_add(z, name, NPZ_I8, 0, NULL);

    if (a)
        *(int64_t *)a->data = (int64_t)value;
    return a;
}

int make_case(struct vector *v, size_t N, size_t L, size_t S, size_t E, size_t H)
{
    struct npz z = { 0 };
    double scale = 1 / sqrt((double)E);
    int ok = configured(&z, "format", 1) && configured(&z, "embed_dim", E) && configured(&z, "kdim", E)
          && configured(&z, "vdim", E) && configured(&z, "num_heads", H) && configured(&z, "batch_first", 1)
          && configured(&z, "add_zero_attn", 0) && configured(&z, "is_causal", 0) && npz_add(&z, "dropout", NPZ_F8, 0, NULL);

    fill(npz_add(&z, "query", NPZ_F4, 3, (size_t[]){ N, L, E }), 1, 1);
    fill(npz_add(&z, "key", NPZ_F4, 3, (size_t[]){ N, S, E }), 2, 1);
    fill(npz_add(&z, "value", NPZ_F4, 3, (size_t[]){ N, S, E }), 3, 1);
    fill(npz_add(&z, "in_proj_weight", NPZ_F4, 2, (size_t[]){ 3 * E, E }), 4, scale);
    fill(npz_add(&z, "in_proj_bias", NPZ_F4, 1, (size_t[]){ 3 * E }), 5, scale);
    fill(npz_add(&z, "out_proj.weight", NPZ_F4, 2, (size_t[]){ E, E }), 6, scale);
    fill(npz_add(&z, "out_proj.bias", NPZ_F4, 1, (size_t[]){ E }), 7, scale);
    const char *wrong = ok && z.count == 16 ? vector_from(v, &z, "bench") : z.error;
    if (wrong)
        fprintf(stderr, "bench: %s\n", wrong);
    return wrong ? -1 : 0;
}
