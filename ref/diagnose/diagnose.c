/* SPDX-License-Identifier: MIT */
/*
 * Letters: f fault, i judged vector, k stage, m element of a whole array.
 */
#include "diagnose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../faults/faults.h"
#include "replay.h"
#include "symptom.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- faults ---- */

struct candidate { const struct fault *fault; double error; };

static size_t cost(const struct replay_case *s)
{
    size_t sum = 0;

    FOR(k, STAGES) sum += s->expected.answer[0].stage[k].size;
    return sum;
}

static int cheaper(const void *a, const void *b)
{
    size_t x = cost(a), y = cost(b);
    return (x > y) - (x < y);
}

/* The kernel may have seen the case as the file has it, or batch first. */
static int looks_different(const struct replay_case *s)
{
    return !s->v.in.batch_first && s->v.in.batched && s->v.in.N > 1;
}

/* How well a fault fits one failed vector, whichever way the kernel saw it. */
static const char *fit(double *error_sigma, const struct replay_case *s, const struct fault *f, const struct profile *p)
{
    *error_sigma = INFINITY;
    for (int canonical = 0; canonical <= looks_different(s) && *error_sigma == INFINITY; canonical++) {
        struct replay r;
        const char *error = replay_open(&r, s, f, p, canonical);
        if (error)
            return error;
        *error_sigma = replay_fit(&r, s, p);
        replay_close(&r);
    }
    return NULL;
}

/* Explains every failed vector; the cheap ones come first and decide most. A
 * fault that no vector can decide about explains nothing. */
static const char *explains_all(struct candidate *c, const struct replay_case *cases, size_t count, const struct profile *p)
{
    size_t decided = 0;

    c->error = 0;
    for (size_t i = 0; i < count && c->error < INFINITY; i++) {
        double e;
        const char *error = fit(&e, &cases[i], c->fault, p);
        if (error)
            return error;
        if (!isnan(e)) {
            c->error = fmax(c->error, e);
            decided++;
        }
    }
    if (!decided)
        c->error = INFINITY;
    return NULL;
}

/* Drop the candidates that would have failed a vector that the kernel passed. */
static const char *drop_contradicted(struct candidate *c, size_t *count, const struct judged_vector *e, const struct profile *p)
{
    struct replay_case s;
    size_t kept = 0;
    const char *error = replay_case_open(&s, e, p);

    if (error)
        return error;
    FOR(f, *count) {
        int unnoticed = 0;
        for (int canonical = 0; !error && !unnoticed && canonical <= looks_different(&s); canonical++) {
            struct replay r;
            if ((error = replay_open(&r, &s, c[f].fault, p, canonical)))
                break;
            unnoticed = replay_unnoticed(&r, &s, p);
            replay_close(&r);
        }
        if (error)
            break;
        if (unnoticed)
            c[kept++] = c[f];
    }
    *count = kept;
    replay_case_close(&s);
    return error;
}

static int nearer(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->error, y = ((const struct candidate *)b)->error;
    return (x > y) - (x < y);
}

static struct mistake *add(struct diagnosis *d, const char *name, const char *seen, size_t explains)
{
    struct mistake *m = &d->mistake[d->count];

    if (d->count == MISTAKES) {
        d->more++;
        return NULL;
    }
    d->count++;
    *m = (struct mistake){ .seen = seen, .explains = explains, .of = d->failed, .error_sigma = NAN };
    snprintf(m->name, sizeof m->name, "%s", name);
    return m;
}

/* Faults that fit all cases, whose expected answers are those of profile q (p was asked for). */
static const char *faults_that_fit(struct diagnosis *d, const struct replay_case *cases, const struct judged_vector *vectors, size_t count,
                                   const struct profile *p, const struct profile *q)
{
    struct candidate *c = calloc(fault_count ? fault_count : 1, sizeof *c);
    size_t fitting = 0;
    const char *error = c ? NULL : "not enough memory for the diagnosis";

    for (size_t f = 0; !error && f < fault_count; f++) {
        c[fitting] = (struct candidate){ &faults[f], 0 };
        error = explains_all(&c[fitting], cases, d->failed, q);
        if (c[fitting].error < INFINITY)
            fitting++;
    }
    for (size_t i = 0; !error && fitting && i < count; i++)
        if (vectors[i].verdict->outcome == OUTCOME_PASS)
            error = drop_contradicted(c, &fitting, &vectors[i], p);
    if (!error) {
        qsort(c, fitting, sizeof *c, nearer);
        FOR(f, fitting) {
            struct mistake *m = add(d, c[f].fault->name, c[f].fault->seen, d->failed);
            if (!m)
                continue;
            snprintf(m->sentence, sizeof m->sentence, "%s", c[f].fault->why);
            m->error_sigma = c[f].error;
            m->precision = q != p ? q : NULL;
        }
    }
    free(c);
    return error;
}

/* ---- what is no fault of arithmetic ---- */

/* A vector says nothing about a type that cannot hold its numbers. */
static int holds_numbers(const struct vector *v, const struct profile *q)
{
    FOR(m, v->count) if (isfinite(v->numbers[m]) && profile_round(q, v->numbers[m]) != v->numbers[m]) return 0;
    return 1;
}

/* Every failed vector that can decide meets q. */
static int all_meet(const struct replay_case *cases, size_t count, const struct profile *q)
{
    size_t met = 0;

    FOR(i, count) {
        struct verdict verdict;
        if (!holds_numbers(&cases[i].v, q))
            continue;
        judge(&verdict, &cases[i].v, cases[i].rounded, cases[i].judged->got, q, cases[i].judged->got[OUTPUT].v ? SCOPE_LAYER : SCOPE_CORE);
        if (verdict.outcome == OUTCOME_SKIP)
            continue;
        if (verdict.outcome != OUTCOME_PASS)
            return 0;
        met++;
    }
    return met > 0;
}

/* The tightest of the looser profiles that all results meet. */
static void lower_precision(struct diagnosis *d, const struct replay_case *cases, const struct profile *p)
{
    for (const struct profile *q = p + 1; q < profiles + PROFILES; q++)
        if (all_meet(cases, d->failed, q)) {
            struct mistake *m = add(d, "precision", "", d->failed);
            m->precision = q;
            snprintf(m->sentence, sizeof m->sentence, "you asked for %s; these results have the precision of %s", p->name, q->name);
            return;
        }
}

static void exhibit(struct exhibit *x, const struct replay_case *s, enum mha_stage k, const struct array *before)
{
    *x = (struct exhibit){ &s->judged->got[k], &s->expected.answer[0].stage[k], &s->expected.answer[0].sigma[k], before, s->expected.profile };
}

/* The symptom holds on every failed vector; neutral where a vector cannot show it. */
static int holds_everywhere(const struct replay_case *cases, size_t count, enum mha_stage k,
                            const struct array *const *before, enum symptom symptom, double detail)
{
    size_t held = 0;

    FOR(i, count) {
        struct exhibit x;
        exhibit(&x, &cases[i], k, before[i]);
        int there = x.got->v ? symptom_holds(symptom, detail, &x) : -1;
        if (there == 0)
            return 0;
        held += there > 0;
    }
    return held > 0;
}

static void symptoms(struct diagnosis *d, const struct replay_case *cases, enum mha_stage k, const struct array *const *before)
{
    for (enum symptom symptom = 0; symptom < SYMPTOMS; symptom++) {
        struct exhibit x;
        double detail;
        exhibit(&x, &cases[d->failed - 1], k, NULL);           /* the largest suggests most */
        for (int n = 0; !isnan(detail = symptom_detail(symptom, &x, n)); n++)
            if (holds_everywhere(cases, d->failed, k, before, symptom, detail)) {
                struct mistake *m = add(d, symptom_names[symptom], "", d->failed);
                symptom_sentence(m->sentence, symptom, detail, k, &x);
                return;
            }
    }
}

/* The expected stage of the vector that the kernel saw before each case. */
static const char *look_back(struct replay_case *earlier, const struct array **before, const struct replay_case *cases, size_t failed,
                             const struct judged_vector *vectors, enum mha_stage k, const struct profile *p)
{
    FOR(i, failed) {
        size_t at = (size_t)(cases[i].judged - vectors);
        const char *error;
        if (!at)
            continue;
        if ((error = replay_case_open(&earlier[i], &vectors[at - 1], p)))
            return error;
        before[i] = &earlier[i].expected.answer[0].stage[k];
    }
    return NULL;
}

/* The first returned stage that some failed vector has wrong. */
static enum mha_stage wrong_stage(const struct replay_case *cases, size_t failed)
{
    FOR(a, RETURNED) FOR(i, failed) {
        const struct replay_case *s = &cases[i];
        struct comparison c;
        enum mha_stage k = returned_stages[a];
        if (!same_shape(&s->judged->got[k], &s->expected.answer[0].stage[k]))
            continue;
        compare_stage(&c, k, &s->judged->got[k], &s->expected.answer[0].stage[k], &s->expected.answer[0].sigma[k], s->expected.profile);
        if (!c.passed)
            return k;
    }
    return STAGES;
}

static const char *look_for_symptoms(struct diagnosis *d, const struct replay_case *cases, const struct judged_vector *vectors, const struct profile *p)
{
    enum mha_stage k = wrong_stage(cases, d->failed);
    struct replay_case *earlier = calloc(d->failed, sizeof *earlier);
    const struct array **before = calloc(d->failed, sizeof *before);
    const char *error = earlier && before ? NULL : "not enough memory for the diagnosis";

    if (!error && k != STAGES && !(error = look_back(earlier, before, cases, d->failed, vectors, k, p)))
        symptoms(d, cases, k, before);
    FOR(i, d->failed) if (earlier && before && before[i]) replay_case_close(&earlier[i]);
    free(earlier);
    free(before);
    return error;
}

/* ---- all of it ---- */

static const char *look_at(struct diagnosis *d, struct replay_case *cases, const struct judged_vector *vectors, size_t count, const struct profile *p)
{
    const char *error = NULL;

    lower_precision(d, cases, p);
    if (!d->count)
        error = faults_that_fit(d, cases, vectors, count, p, p);
    if (!error && !d->count)
        error = look_for_symptoms(d, cases, vectors, p);
    for (const struct profile *q = p + 1; !error && !d->count && q < profiles + PROFILES && d->failed > 2; q++) {
        FOR(i, d->failed) if (!error) error = expected_change_profile(&cases[i].expected, &cases[i].v, q);
        if (!error)
            error = faults_that_fit(d, cases, vectors, count, p, q);
    }
    return error;
}

const char *diagnose(struct diagnosis *d, const struct judged_vector *vectors, size_t count, const struct profile *p)
{
    struct replay_case *cases = calloc(count ? count : 1, sizeof *cases);
    const char *error = cases ? NULL : "not enough memory for the diagnosis";

    *d = (struct diagnosis){ 0 };
    for (size_t i = 0; !error && i < count; i++)
        if (vectors[i].verdict->outcome == OUTCOME_FAIL && !vectors[i].verdict->is_policy && replay_case_has_results(&vectors[i])
            && !(error = replay_case_open(&cases[d->failed], &vectors[i], p)))
            d->failed++;
    if (!error && d->failed) {
        qsort(cases, d->failed, sizeof *cases, cheaper);
        error = look_at(d, cases, vectors, count, p);
    }
    FOR(i, cases ? d->failed : 0) replay_case_close(&cases[i]);
    free(cases);
    return error;
}
