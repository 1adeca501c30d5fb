/* SPDX-License-Identifier: MIT */
/*
 * Which mistakes of tiles are found, by their size: by the corpus, and by random cases.
 *
 *     size_table check FILE VECTORS          every mistake up to T = 128 is found by the corpus, the honest kernel passes, and
 *                                            what the page FILE says of the corpus is what page would write
 *     size_table page FILE VECTORS COUNT     write docs/sizes.md, with COUNT random cases
 *
 * Each vector and each random case is prepared once; then every mistake that is
 * not found yet and whose sizes it has is tried on it.
 *
 * Letters: m mistake, a answer, T size of a tile.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/corpus.h"
#include "fuzz/case.h"
#include "host/call.h"
#include "judge/compare.h"
#include "judge/expected.h"
#include "tiles.h"

#define PROMISED 128

static const int tiles[] = { 8, 16, 32, 64, 128, 256, 512 };
enum { TILES = sizeof tiles / sizeof *tiles, MISTAKES = TILE_AXES * TILE_KINDS * TILES };

struct found {
    struct tile_mistake mistake;
    char vector[128];            /* the first vector that rejects it; "" */
    size_t number;               /* the random case that does, from 1; 0 */
};

static int failed(const char *subject, const char *what)
{
    fprintf(stderr, "size_table: %s: %s\n", subject, what);
    return 2;
}

/* No legitimate answer accepts this output. */
static int rejected(const struct array *output, const struct expected *expected)
{
    FOR(a, expected->answers) {
        struct comparison c;
        compare_stage(&c, OUTPUT, output, &expected->answer[a].stage[OUTPUT], &expected->answer[a].sigma[OUTPUT], expected->profile);
        if (c.passed)
            return 0;
    }
    return 1;
}

static int64_t extent(const struct mha_in *in, enum tile_axis axis)
{
    const size_t sizes[TILE_AXES] = { in->S + (in->bias_k != NULL) + (size_t)in->add_zero_attn, in->L, in->E / in->H, in->N, in->H };

    return (int64_t)sizes[axis];
}

/* Run the kernel with one mistake, or with none. 1 if it is rejected, 0 if not, -1 if it could not be run. */
static int try_mistake(const struct tile_mistake *m, const struct vector *v, const struct expected *expected)
{
    struct adapter_call state = { tiles_kernel };
    struct adapter adapter = adapter_call(&state, "tiles", SCOPE_LAYER);
    struct result result = { .outcome = OUTCOME_PASS };
    int is_rejected = -1;

    tile_mistake = m;
    adapter.answer(&adapter, &result, v, expected->profile);
    if (result.outcome == OUTCOME_PASS)
        is_rejected = rejected(&result.got[OUTPUT], expected);
    mha_free(result.got);
    return is_rejected;
}

/* Try every mistake that is not found yet, number 0: on a vector. NULL, or an error message. */
static const char *try_all(struct found found[MISTAKES], struct vector *v, size_t number)
{
    const struct profile *p = &profiles[PROFILE_FLOAT32];
    struct expected expected;
    int rounded = vector_round(v, profile_rounding, p);
    const char *error = NULL;
    size_t wanted = 0;

    FOR(m, MISTAKES) {
        struct found *f = &found[m];
        wanted += !(number ? f->number : (size_t)(f->vector[0] != 0)) && tile_matters(&f->mistake, extent(&v->in, f->mistake.axis));
    }
    if (!wanted && number)
        return NULL;
    if ((error = expected_make(&expected, v, rounded, p, SCOPE_LAYER)))
        return error;
    if (!expected.not_applicable && !number && try_mistake(NULL, v, &expected) != 0)
        error = "the honest kernel is rejected";
    FOR(m, error || expected.not_applicable ? 0 : MISTAKES) {
        struct found *f = &found[m];
        if ((number ? f->number != 0 : f->vector[0] != 0) || !tile_matters(&f->mistake, extent(&v->in, f->mistake.axis)))
            continue;
        if (try_mistake(&f->mistake, v, &expected) != 1)
            continue;
        if (number)
            f->number = number;
        else
            snprintf(f->vector, sizeof f->vector, "%s", v->name);
    }
    expected_free(&expected);
    return error;
}

/* ---- the corpus, and random cases ---- */

static const char *by_corpus(struct found found[MISTAKES], struct corpus *corpus, const char *dir)
{
    struct choice choice;
    const char *error;

    if ((error = corpus_open(corpus, dir)) || (error = corpus_choose(&choice, corpus, 0, NULL)))
        return error;
    FOR(c, error ? 0 : choice.count) {
        static struct vector v;
        if ((error = vector_read(&v, choice.chosen[c].path, choice.chosen[c].name)))
            break;
        error = try_all(found, &v, 0);
        vector_free(&v);
        if (error)
            break;
    }
    choice_free(&choice);
    return error;
}

static const char *by_random_cases(struct found found[MISTAKES], size_t count)
{
    const char *error = NULL;

    FOR(number, count) {
        static struct vector v;
        struct npz file;
        if ((error = fuzz_case(&file, NULL, &(struct fuzz_stream){ .seed = 1 }, number)) || (error = vector_from(&v, &file, "random")))
            return error;
        error = try_all(found, &v, number + 1);
        vector_free(&v);
        if (error)
            break;
    }
    return error;
}

/* ---- the page ---- */

static void page_rows(FILE *f, const struct found found[MISTAKES], int by_vectors)
{
    fprintf(f, "| | ");
    FOR(t, TILES) fprintf(f, "T = %d |%s", tiles[t], t + 1 < TILES ? " " : "\n|---|");
    FOR(t, TILES) fprintf(f, "---|%s", t + 1 < TILES ? "" : "\n");
    FOR(axis, TILE_AXES) {
        fprintf(f, "| %s |", tile_axes[axis]);
        FOR(t, TILES) {
            size_t some = 0;
            FOR(m, MISTAKES) if (found[m].mistake.axis == axis && found[m].mistake.T == tiles[t])
                some += by_vectors ? found[m].vector[0] != 0 : found[m].number != 0;
            fprintf(f, " %zu |", some);
        }
        fprintf(f, "\n");
    }
}

static void page_missed(FILE *f, const struct found found[MISTAKES])
{
    fprintf(f, "\n## What is not found\n\n| mistake | by the corpus | by random cases |\n|---|---|---|\n");
    FOR(m, MISTAKES) {
        const struct found *x = &found[m];
        if (x->vector[0] && x->number)
            continue;
        fprintf(f, "| T = %d %s: %s | ", (int)x->mistake.T, tile_axes[x->mistake.axis], tile_kinds[x->mistake.kind]);
        fprintf(f, x->vector[0] ? "`%s` |" : "**no**%.0s |", x->vector);
        fprintf(f, x->number ? " case %zu |\n" : " **no**%.0zu |\n", x->number);
    }
}

static void page_corpus(FILE *f, const struct found found[MISTAKES], const struct corpus *corpus)
{
    fprintf(f, "\n## By the %zu vectors of corpus %s\n\n", corpus->count, corpus->version);
    page_rows(f, found, 1);
}

static void page_write(FILE *f, const struct found found[MISTAKES], const struct corpus *corpus, size_t count)
{
    fprintf(f, "<!-- Written by the target docs_sizes (tests/sizes/size_table.c). Do not edit. -->\n\n# Sizes\n\n"
               "Kernels work in tiles, and go wrong at their edges. One honest kernel ([tiles.c](../tests/sizes/tiles.c)) is given %d kinds of\n"
               "mistake for tiles of T keys, queries, channels of a head, items and heads. A number below says how many of the %d kinds are found.\n\n"
               "| kind | the victim is, if the size is large enough |\n|---|---|\n", TILE_KINDS, TILE_KINDS);
    FOR(k, TILE_KINDS) fprintf(f, "| %zu | %s |\n", k + 1, tile_kinds[k]);
    page_corpus(f, found, corpus);
    fprintf(f, "\n## By %zu random cases of seed 1\n\n", count);
    page_rows(f, found, 0);
    page_missed(f, found);
}

/* The page has other words or numbers on the corpus. */
static int stale(const char *path, const struct found found[MISTAKES], const struct corpus *corpus)
{
    static char wanted[1 << 14], page[1 << 16];
    FILE *f = tmpfile(), *is = fopen(path, "rb");
    size_t length = 0;

    if (f && is) {
        page_corpus(f, found, corpus);
        rewind(f);
        length = fread(wanted, 1, sizeof wanted - 1, f);
        page[fread(page, 1, sizeof page - 1, is)] = 0;
    }
    if (f)
        fclose(f);
    if (is)
        fclose(is);
    if (length && strstr(page, wanted))
        return 0;
    printf("%s is stale: make it again with the target docs_sizes\n", path);
    return 1;
}

static int check(const char *dir, const struct found found[MISTAKES])
{
    int missed = 0;

    FOR(m, MISTAKES) {
        const struct tile_mistake *x = &found[m].mistake;
        if (x->T > PROMISED || found[m].vector[0])
            continue;
        printf("%s: no vector finds T = %d %s: %s\n", dir, (int)x->T, tile_axes[x->axis], tile_kinds[x->kind]);
        missed++;
    }
    return missed != 0;
}

int main(int argc, char **argv)
{
    static struct found found[MISTAKES];
    int page = argc == 5 && !strcmp(argv[1], "page");
    const char *dir = argc > 3 ? argv[3] : "", *error;
    struct corpus corpus;
    size_t count = page ? strtoul(argv[4], NULL, 10) : 0;

    if (!page && (argc != 4 || strcmp(argv[1], "check") != 0))
        return failed("usage", "check FILE VECTORS | page FILE VECTORS COUNT");
    FOR(m, MISTAKES) found[m].mistake = (struct tile_mistake){ (enum tile_axis)(m / TILE_KINDS % TILE_AXES), (int)(m % TILE_KINDS),
                                                              tiles[m / TILE_KINDS / TILE_AXES] };
    if ((error = by_corpus(found, &corpus, dir)) || (error = by_random_cases(found, count)))
        return failed(dir, error);
    if (page) {
        FILE *f = fopen(argv[2], "wb");
        if (!f)
            return failed(argv[2], "cannot be written");
        page_write(f, found, &corpus, count);
        if (ferror(f) | fclose(f))
            return failed(argv[2], "cannot be written");
    }
    int wrong = page ? 0 : check(dir, found) | stale(argv[2], found, &corpus);
    corpus_close(&corpus);
    return wrong;
}
