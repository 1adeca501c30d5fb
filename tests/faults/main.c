/* SPDX-License-Identifier: MIT */
/*
 * faults killed PROFILE VECTORS    every fault is rejected by some vector
 * faults check N FILE VECTORS      so it is under float32, float16 and bfloat16; every
 *                                  vector rejects what it says it catches; at least N
 *                                  groups of faults can be told apart; and docs/faults.md
 *                                  (FILE) is as page would write it
 * faults page FILE VECTORS         write it (or to - )
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

/* How many faults are alive that should not be, or the other way round. */
static size_t survivors(const struct matrix *m)
{
    double weakest = INFINITY;
    size_t count, alive = 0, weak = 0;

    FOR(f, fault_count) {
        double clearest = matrix_clearest(m, f, &count);
        const char *reason = matrix_permits(m->profile, faults[f].name);
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
    printf("%s: %zu faults, %zu wrong; the weakest is %s at %.3g sigma\n", m->profile->name, fault_count, alive, faults[weak].name, weakest);
    return alive;
}

static int killed(const char *profile, const char *vectors)
{
    const struct profile *p = profile_named(profile);
    struct matrix m;
    const char *error = p ? matrix_make(&m, vectors, p, 0) : "no such profile";

    if (error)
        return fail(profile, error);
    size_t alive = survivors(&m);
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

static size_t false_vectors(const struct matrix *m)
{
    size_t wrong = 0;

    FOR(v, m->vectors) {
        size_t kills = 0;
        FOR(f, fault_count) kills += (size_t)matrix_cell(m, v, f)->killed;
        int excused = m->choice.chosen[v].vector->kills_nothing_because[0] != 0;
        if (excused != !kills) {
            printf(kills ? "%s says that it rejects no fault, and does\n" : "%s rejects no fault, and does not say why it exists\n",
                   m->choice.chosen[v].name);
            wrong++;
        }
        wrong += false_claims(m, v);
    }
    printf("%zu vectors, %zu wrong\n", m->vectors, wrong);
    return wrong;
}

static size_t groups_of(const struct matrix *m)
{
    size_t groups = 0;

    FOR(f, fault_count) {
        groups += m->group[f] == f;
        if (m->group[f] != f)
            printf("%s cannot be told from %s\n", faults[f].name, faults[m->group[f]].name);
    }
    printf("%zu faults in %zu groups\n", fault_count, groups);
    return groups;
}

static const int which[PAGE_PROFILES] = { PROFILE_FLOAT32, PROFILE_FLOAT16, PROFILE_BFLOAT16 };

static const char *make_all(struct matrix m[PAGE_PROFILES], const char *vectors)
{
    const char *error = NULL;

    for (int k = 0; !error && k < PAGE_PROFILES; k++)
        error = matrix_make(&m[k], vectors, &profiles[which[k]], k == 0);
    return error;
}

static int page(const char *path, const char *vectors)
{
    struct matrix m[PAGE_PROFILES];
    const char *error = make_all(m, vectors);
    FILE *f = error ? NULL : strcmp(path, "-") ? fopen(path, "wb") : stdout;

    if (error)
        return fail(path, error);
    if (f)
        page_write(f, m);
    for (int k = 0; k < PAGE_PROFILES; k++)
        matrix_free(&m[k]);
    if (!f || ferror(f) || (f != stdout && fclose(f)))
        return fail(path, "cannot be written");
    return 0;
}

/* Byte by byte; the first line that differs is told. */
static int stale(const char *path, const struct matrix m[PAGE_PROFILES])
{
    FILE *is = fopen(path, "rb"), *wanted = tmpfile();
    int line = 1, a, b;

    if (!is || !wanted) {
        printf("%s cannot be read\n", path);
        return 1;
    }
    page_write(wanted, m);
    rewind(wanted);
    do {
        a = getc(is);
        b = getc(wanted);
        line += a == '\n';
    } while (a == b && a != EOF);
    fclose(is);
    fclose(wanted);
    if (a != b)
        printf("%s:%d is stale: make it again with the target docs\n", path, line);
    return a != b;
}

static int check(const char *least, const char *path, const char *vectors)
{
    struct matrix m[PAGE_PROFILES];
    const char *error = make_all(m, vectors);
    int wrong;

    if (error)
        return fail(vectors, error);
    wrong = groups_of(&m[0]) < strtoul(least, NULL, 10);
    for (int k = 0; k < PAGE_PROFILES; k++)
        wrong |= survivors(&m[k]) != 0;
    wrong |= false_vectors(&m[0]) != 0;
    wrong |= stale(path, m);
    for (int k = 0; k < PAGE_PROFILES; k++)
        matrix_free(&m[k]);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "killed"))
        return killed(argv[2], argv[3]);
    if (argc == 4 && !strcmp(argv[1], "page"))
        return page(argv[2], argv[3]);
    if (argc == 5 && !strcmp(argv[1], "check"))
        return check(argv[2], argv[3], argv[4]);
    return fail("usage", "killed PROFILE | page FILE | check N FILE, then the vectors' directory");
}
