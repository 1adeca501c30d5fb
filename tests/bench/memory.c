/* SPDX-License-Identifier: MIT */
/* What the recipe and the envelope take, in a process of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../ref/envelope/envelope.h"
#include "bench.h"

/* The peak of this program alone: getrusage() counts who started it, too. */
static double peak_kb(void)
{
    char line[256];
    double kb = NAN;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

int memory_child(char **argv)
{
    size_t n[4];
    struct vector v;
    struct array t[STAGES], sigma[STAGES];
    double kept = 0;

    for (int k = 0; k < 4; k++)
        n[k] = (size_t)strtoul(argv[k], NULL, 10);
    if (make_case(&v, n[0], n[1], n[1], n[2], n[3]))
        return 1;
    double before = peak_kb();
    if (mha_alloc(t, &v.in))
        return 1;
    mha_forward(t, &v.in);
    double recipe = peak_kb();
    if (mha_alloc(sigma, &v.in) || envelope(sigma, t, &v.in, &profiles[PROFILE_FLOAT32], SCOPE_LAYER))
        return 1;
    double both = peak_kb();
    for (int k = 0; k < STAGES; k++)
        kept += t[k].v ? (double)(t[k].size * sizeof(real)) / 1024 : 0;
    mha_free(t);
    mha_free(sigma);
    vector_free(&v);
    printf("%f %f\n", (recipe - before) / kept, (both - recipe) / kept);
    return 0;
}

void bench_memory(struct bench *b)
{
    const char *sizes[][4] = { { "1", "128", "768", "12" }, { "1", "1024", "256", "8" } };

    for (int k = 0; k < (b->quick ? 1 : 2); k++) {
        const char *argv[] = { b->self, "memory", sizes[k][0], sizes[k][1], sizes[k][2], sizes[k][3], NULL };
        char printed[1024], what[160];
        double recipe, envelope;
        snprintf(printed, sizeof printed, "%s/memory.txt", b->work);
        run_program(argv, printed);
        FILE *f = fopen(printed, "r");
        if (!f || fscanf(f, "%lf %lf", &recipe, &envelope) != 2) {
            fprintf(stderr, "bench: memory cannot be measured\n");
            b->failed++;
        } else {
            snprintf(what, sizeof what, "memory of the reference, N=%s L=%s E=%s H=%s", sizes[k][0], sizes[k][1], sizes[k][2], sizes[k][3]);
            row(b, what, recipe, AT_MOST, 1.5, "times its stages");
            snprintf(what, sizeof what, "memory of the envelope, N=%s L=%s E=%s H=%s", sizes[k][0], sizes[k][1], sizes[k][2], sizes[k][3]);
            row(b, what, envelope, AT_MOST, 1.5, "times its stages");
        }
        if (f)
            fclose(f);
    }
}
