/* SPDX-License-Identifier: MIT */
/*
 * Numbers for gnuplot, on standard output:
 *
 *   plots weights SOURCE   the attention weights of core/answer, a block for each item and head
 *   plots sigma SOURCE     how often an honest float32 kernel is how many sigma off, over all vectors
 *
 * Letters: k stage, m element, b bin.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weave.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)
enum { BINS = 128 };    /* an eighth of a sigma each, from -8 to 8 */

static const enum mha_stage judged[] = { OUTPUT, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN };

static int weights(const char *source)
{
    char path[4096];
    struct vector v;
    const struct npz_array *a;

    snprintf(path, sizeof path, "%s/vectors/core/answer.npz", source);
    if (vector_read(&v, path, "core/answer") || !(a = vector_stage(&v, NULL, "", "attn_weights")))
        return 1;
    puts("# core/answer, attn_weights: key, query, weight; a block for each item and head");
    FOR(m, a->size) {
        if (m && m % (a->shape[2] * a->shape[3]) == 0)
            puts("\n");
        printf("%zu %zu %.4f\n", m % a->shape[3], m / a->shape[3] % a->shape[2], npz_value(a, m));
    }
    vector_free(&v);
    return 0;
}

/* Errors of what a kernel returns, in sigma; 1 when something failed. */
static int count_errors(size_t bins[BINS], double *worst, const struct chosen *chosen)
{
    struct array got[STAGES];
    double *stage[STAGES];
    struct vector v;
    struct expected expected;
    int wrong = 0;

    if (vector_read_chosen(&v, chosen))
        return 1;
    if (expected_make(&expected, &v, 0, &profiles[PROFILE_FLOAT32], SCOPE_LAYER) || mha_alloc(got, &v.in))
        return 1;
    FOR(k, STAGES) stage[k] = got[k].v;
    wrong = float_stages(stage, &v.in) != NULL;
    FOR(s, sizeof judged / sizeof *judged) {
        const struct array *a = &expected.answer[0].stage[judged[s]], *sigma = &expected.answer[0].sigma[judged[s]];
        FOR(m, a->size) {
            double x = (got[judged[s]].v[m] - a->v[m]) / sigma->v[m];
            if (expected.not_applicable || !(sigma->v[m] > 0) || !isfinite(x) || fabs(x) >= 8)
                continue;
            *worst = fmax(*worst, fabs(x));
            bins[(int)floor((x + 8) * BINS / 16)]++;
        }
    }
    mha_free(got);
    expected_free(&expected);
    vector_free(&v);
    return wrong;
}

static int sigma(const char *source)
{
    char path[4096];
    struct corpus corpus;
    struct choice choice;
    size_t bins[BINS] = { 0 }, total = 0;
    double worst = 0;

    snprintf(path, sizeof path, "%s/vectors", source);
    if (corpus_open(&corpus, path) || corpus_choose(&choice, &corpus, 0, NULL))
        return 1;
    FOR(c, choice.count)
        if (count_errors(bins, &worst, &choice.chosen[c])) {
            printf("%s: failed\n", choice.chosen[c].name);
            return 1;
        }
    FOR(b, BINS) total += bins[b];
    printf("# error in sigma, how many of %zu numbers; the worst is %.1f\n", total, worst);
    FOR(b, BINS) printf("%g %zu\n", -8 + (0.5 + (double)b) * 16 / BINS, bins[b]);
    choice_free(&choice);
    corpus_close(&corpus);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "weights"))
        return weights(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "sigma"))
        return sigma(argv[2]);
    fputs("usage: plots weights|sigma SOURCE\n", stderr);
    return 2;
}
