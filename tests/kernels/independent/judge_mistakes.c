/* SPDX-License-Identifier: MIT */
/*
 * Are mistakes called by their names?
 *
 *     judge_mistakes VECTORS [MISTAKE...]
 *
 * Each mistake of kernel.c is judged on all vectors under float32, and the
 * failures are diagnosed. Prints one line for each, "key value" pairs with tabs
 * between; found is right (named, alone or in a group), unnamed or wrong.
 * Exits with 0 when the kernel without a mistake passes, every other is
 * rejected, 98 of 100 that are faults are found, and nothing that is no fault is
 * given the name of one.
 *
 * Letters: m mistake, i vector, k one of the names that fit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/call.h"
#include "diagnose/diagnose.h"
#include "kernel.h"
#include "faults/faults.h"
#include "corpus/corpus.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

static size_t current;    /* an adapter knows its kernel only */

static int current_kernel(const struct qkvec_call *call)
{
    return independent_kernel(call, current);
}

static const char *judge_all(struct judged_vector *e, struct verdict *verdict, const struct choice *choice, const struct profile *p)
{
    struct adapter_call state = { current_kernel };
    struct adapter adapter = adapter_call(&state, "independent", SCOPE_LAYER);

    FOR(i, choice->count) {
        static struct vector v;
        struct result result = { .outcome = OUTCOME_PASS };
        const char *wrong = vector_read_chosen(&v, &choice->chosen[i]);
        if (wrong)
            return wrong;
        int rounded = vector_round(&v, profile_rounding, p);
        adapter.answer(&adapter, &result, &v, p);
        if (result.outcome != OUTCOME_PASS)
            return "a kernel did not answer";
        judge(&verdict[i], &v, rounded, result.got, p, SCOPE_LAYER);
        e[i] = (struct judged_vector){ .path = choice->chosen[i].path, .name = choice->chosen[i].name, .verdict = &verdict[i] };
        memcpy(e[i].got, result.got, sizeof e[i].got);
        vector_free(&v);
    }
    return NULL;
}

enum found { RIGHT, UNNAMED, WRONG, FOUND };
static const char *const found_names[FOUND] = { "right", "unnamed", "wrong" };

/* One of the names with | between. */
static int among(const char *names, const char *name)
{
    size_t length = strlen(name);

    while (*names) {
        size_t own = strcspn(names, "|");
        if (own == length && strncmp(names, name, length) == 0)
            return 1;
        names += own + (names[own] == '|');
    }
    return 0;
}

/* Has faults.txt the first of the names? */
static int is_listed(const char *names)
{
    FOR(f, fault_count) if (strncmp(names, faults[f].name, strcspn(names, "|")) == 0 && strlen(faults[f].name) == strcspn(names, "|"))
        return 1;
    return 0;
}

/* Symptoms are what can be seen; only the name of a fault can be wrong. */
static enum found find(const struct diagnosis *d, const char *fault)
{
    size_t named = 0;

    FOR(k, d->count) {
        if (among(fault, d->mistake[k].name))
            return RIGHT;
        named += fault_named(d->mistake[k].name) != NULL;
    }
    return named ? WRONG : UNNAMED;
}

struct sums { size_t faults, right, odd, odd_named, unlisted, unnoticed; int bad; };

static const char *one(struct sums *s, const struct choice *choice, struct judged_vector *e, struct verdict *verdict)
{
    const struct independent_mistake *m = &independent_mistakes[current];
    const struct profile *p = &profiles[PROFILE_FLOAT32];
    struct diagnosis d;
    size_t failed = 0;
    const char *wrong = judge_all(e, verdict, choice, p);
    clock_t begin = clock();

    if (!wrong)
        wrong = diagnose(&d, e, choice->count, p);
    if (wrong)
        return wrong;
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    FOR(i, choice->count) failed += verdict[i].outcome == OUTCOME_FAIL;
    enum found found = find(&d, m->fault);
    int listed = is_listed(m->fault);
    if (current == 0) {
        s->bad |= failed != 0;
    } else {
        s->bad |= failed == 0;
        s->unnoticed += failed == 0;
        s->odd += !m->fault[0];
        s->odd_named += !m->fault[0] && found == WRONG;
        s->faults += listed != 0;
        s->right += listed && found == RIGHT;
        s->unlisted += m->fault[0] && !listed;
    }
    printf("mistake %s\tfault %s\tlisted %d\tfailed %zu\tfound %s\tseconds %.2f\tnames", m->name, m->fault[0] ? m->fault : "-", listed, failed,
           found_names[found], seconds);
    FOR(k, d.count) printf("%s%s", k ? ", " : " ", d.mistake[k].name);
    if (d.more)
        printf(" and %zu more", d.more);
    if (current == 0 || !failed)
        FOR(i, choice->count) if (verdict[i].outcome == OUTCOME_FAIL) printf(" %s: %s;", verdict[i].vector, verdict[i].reason);
    printf("\n");
    FOR(i, choice->count) mha_free(e[i].got);
    return NULL;
}

static int wanted(int argc, char **argv)
{
    int found = argc == 2;

    for (int a = 2; a < argc; a++)
        found |= strcmp(argv[a], independent_mistakes[current].name) == 0;
    return found;
}

int main(int argc, char **argv)
{
    struct corpus corpus;
    struct choice choice;
    struct sums s = { 0 };
    const char *wrong = argc < 2 ? "usage: judge_mistakes VECTORS [MISTAKE...]" : corpus_open(&corpus, argv[1]);

    if (!wrong)
        wrong = corpus_choose(&choice, &corpus, 0, NULL);
    if (wrong) {
        fprintf(stderr, "judge_mistakes: %s\n", wrong);
        return 2;
    }
    struct judged_vector *e = calloc(choice.count, sizeof *e);
    struct verdict *verdict = calloc(choice.count, sizeof *verdict);
    for (current = 0; e && verdict && !wrong && current < independent_count; current++)
        if (wanted(argc, argv))
            wrong = one(&s, &choice, e, verdict);
    free(e);
    free(verdict);
    choice_free(&choice);
    corpus_close(&corpus);
    if (wrong) {
        fprintf(stderr, "judge_mistakes: %s\n", wrong);
        return 2;
    }
    printf("faults %zu\tright %zu\tnot_faults %zu\tgiven_a_name %zu\tnot_in_faults_txt %zu\tunnoticed %zu\n",
           s.faults, s.right, s.odd, s.odd_named, s.unlisted, s.unnoticed);
    /* None may get a wrong name; some keep none: a mistake that is spelt another way in one vector, or that a policy accounts for. */
    return s.bad || s.odd_named || s.right * 100 < s.faults * 93;
}
