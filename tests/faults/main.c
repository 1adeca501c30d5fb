/* SPDX-License-Identifier: MIT */
/*
 * faults killed PROFILE VECTORS    every fault is rejected by some vector
 * faults vectors VECTORS           every vector rejects a fault, and what it says it catches
 * faults apart N VECTORS           at least N groups of faults can be told apart
 * faults page FILE VECTORS         write docs/faults.md (or to - )
 * faults stale FILE VECTORS        is it as page would write it?
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

static int fail(const char *subject, const char *sentence)
{
    fprintf(stderr, "faults: %s: %s\n", subject, sentence);
    return 2;
}

static int killed(const char *profile, const char *vectors)
{
    const struct profile *p = profile_named(profile);
    struct matrix m;
    double weakest = INFINITY;
    size_t count, alive = 0, weak = 0;
    const char *error = p ? matrix_make(&m, vectors, p, 0) : "no such profile";

    if (error)
        return fail(profile, error);
    FOR(f, fault_count) {
        double clearest = matrix_clearest(&m, f, &count);
        const char *reason = matrix_permits(p, faults[f].name);
        if (!count)
            printf("%s %s%s%s\n", reason ? "permitted" : "SURVIVES", faults[f].name, reason ? ": " : "", reason ? reason : "");
        else if (reason)
            printf("STALE: %s is listed as permitted, but is rejected\n", faults[f].name);
        alive += !count != (reason != NULL);
        if (count && clearest < weakest) {
            weakest = clearest;
            weak = f;
        }
    }
    printf("%s: %zu faults, %zu wrong; the weakest is %s at %.3g sigma\n", profile, fault_count, alive, faults[weak].name, weakest);
    matrix_free(&m);
    return alive != 0;
}

/* The words of catches are faults that this vector rejects. */
static size_t false_claims(const struct matrix *m, size_t v)
{
    const struct corpus_vector *c = m->choice.chosen[v].vector;
    char words[sizeof c->catches];
    size_t wrong = 0;

    memcpy(words, c->catches, sizeof words);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        const struct fault *fault = fault_named(word);
        if (!fault)
            printf("%s says it catches %s, which is no fault\n", c->name, word);
        else if (!matrix_cell(m, v, (size_t)(fault - faults))->killed)
            printf("%s says it catches %s, and does not\n", c->name, word);
        else
            continue;
        wrong++;
    }
    return wrong;
}

static int every_vector(const char *vectors)
{
    struct matrix m;
    size_t wrong = 0;
    const char *error = matrix_make(&m, vectors, &profiles[PROFILE_FLOAT32], 0);

    if (error)
        return fail(vectors, error);
    FOR(v, m.choice.count) {
        size_t kills = 0;
        FOR(f, fault_count) kills += (size_t)matrix_cell(&m, v, f)->killed;
        int excused = m.choice.chosen[v].vector->kills_nothing_because[0] != 0;
        if (excused != !kills) {
            printf(kills ? "%s says that it rejects no fault, and does\n" : "%s rejects no fault, and does not say why it exists\n",
                   m.choice.chosen[v].name);
            wrong++;
        }
        wrong += false_claims(&m, v);
    }
    printf("%zu vectors, %zu wrong\n", m.choice.count, wrong);
    matrix_free(&m);
    return wrong != 0;
}

static int apart(const char *least, const char *vectors)
{
    struct matrix m;
    size_t groups = 0;
    const char *error = matrix_make(&m, vectors, &profiles[PROFILE_FLOAT32], 1);

    if (error)
        return fail(vectors, error);
    FOR(f, fault_count) {
        groups += m.group[f] == f;
        if (m.group[f] != f)
            printf("%s cannot be told from %s\n", faults[f].name, faults[m.group[f]].name);
    }
    printf("%zu faults in %zu groups\n", fault_count, groups);
    matrix_free(&m);
    return groups < strtoul(least, NULL, 10);
}

static const char *make_page(FILE *f, const char *vectors)
{
    static const int which[PAGE_PROFILES] = { PROFILE_FLOAT32, PROFILE_FLOAT16, PROFILE_BFLOAT16 };
    struct matrix m[PAGE_PROFILES];
    const char *error = NULL;

    for (int k = 0; !error && k < PAGE_PROFILES; k++)
        error = matrix_make(&m[k], vectors, &profiles[which[k]], k == 0);
    if (error)
        return error;
    page_write(f, m);
    for (int k = 0; k < PAGE_PROFILES; k++)
        matrix_free(&m[k]);
    return NULL;
}

static int page(const char *path, const char *vectors)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "wb") : stdout;
    const char *error = f ? make_page(f, vectors) : "cannot be written";

    if (f && (ferror(f) || (f != stdout && fclose(f))))
        error = "cannot be written";
    return error ? fail(path, error) : 0;
}

/* Byte by byte; the first line that differs is told. */
static int stale(const char *path, const char *vectors)
{
    FILE *is = fopen(path, "rb"), *wanted = tmpfile();
    const char *error = is && wanted ? make_page(wanted, vectors) : "cannot be read";
    int line = 1, a, b;

    if (error)
        return fail(path, error);
    rewind(wanted);
    do {
        a = getc(is);
        b = getc(wanted);
        line += a == '\n';
    } while (a == b && a != EOF);
    fclose(is);
    fclose(wanted);
    if (a == b)
        return 0;
    printf("%s:%d is stale: make it again with the target docs\n", path, line);
    return 1;
}

int main(int argc, char **argv)
{
    const struct { const char *name; int words; int (*two)(const char *, const char *); } actions[] = {
        { "killed", 4, killed }, { "apart", 4, apart }, { "page", 4, page }, { "stale", 4, stale },
    };

    if (argc == 3 && !strcmp(argv[1], "vectors"))
        return every_vector(argv[2]);
    FOR(k, sizeof actions / sizeof *actions)
        if (argc == actions[k].words && !strcmp(argv[1], actions[k].name))
            return actions[k].two(argv[2], argv[3]);
    return fail("usage", "killed PROFILE | vectors | apart N | page FILE | stale FILE, then the vectors' directory");
}
