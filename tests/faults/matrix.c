/* SPDX-License-Identifier: MIT */
/*
 * Letters: f fault, v vector, k stage, m element of a whole array, a answer.
 */
#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/compare.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

const enum mha_stage seen[SEEN] = { OUTPUT, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN };

/* What a profile permits, and why. Nothing is listed that float32 permits. */
static const struct { int profile; const char *fault, *reason; } permitted[] = {
    { -1, NULL, NULL },
};

const char *matrix_permits(const struct profile *p, const char *fault)
{
    FOR(k, sizeof permitted / sizeof *permitted)
        if (permitted[k].fault && &profiles[permitted[k].profile] == p && !strcmp(permitted[k].fault, fault))
            return permitted[k].reason;
    return NULL;
}

/* The fault's results as a kernel of that profile would return them. */
static const char *results(struct array t[STAGES], const struct vector *v, const struct fault *f, const struct profile *p)
{
    const char *error = fault_forward(t, &v->in, f, p != &profiles[PROFILE_FLOAT64]);

    FOR(s, error ? 0 : SEEN) FOR(m, t[seen[s]].size) t[seen[s]].v[m] = profile_round(p, t[seen[s]].v[m]);
    return error;
}

/* Rejected by every legitimate answer. The error is that of the nearest one. */
static struct cell judge_one(const struct array t[STAGES], const struct expected *expected)
{
    struct cell cell = { 1, INFINITY };

    FOR(a, expected->answers) {
        int passed = 1;
        double error = 0;
        FOR(s, SEEN) {
            struct comparison c;
            const struct answer *answer = &expected->answer[a];
            compare_stage(&c, seen[s], &t[seen[s]], &answer->stage[seen[s]], &answer->sigma[seen[s]], expected->profile);
            passed = passed && c.passed;
            if (c.worst.stage != STAGES)
                error = fmax(error, c.worst.error_sigma);
        }
        if (passed)
            cell.killed = 0;
        cell.error = fmin(cell.error, error);
    }
    return cell;
}

/* No element of what is seen is farther apart than rounding could move it. */
static int alike(struct array x[STAGES], struct array y[STAGES], const struct expected *expected)
{
    FOR(s, SEEN) {
        struct comparison c;
        compare_stage(&c, seen[s], &x[seen[s]], &y[seen[s]], &expected->answer[0].sigma[seen[s]], expected->profile);
        if (c.wrong)
            return 0;
    }
    return 1;
}

/* Faults that stood together so far are parted where this vector tells them apart. */
static void refine(size_t *group, struct array (*t)[STAGES], const struct expected *expected)
{
    size_t *fresh = malloc((fault_count ? fault_count : 1) * sizeof *fresh);

    if (!fresh)
        abort();
    FOR(f, fault_count) {
        fresh[f] = f;
        for (size_t g = 0; g < f && fresh[f] == f; g++)
            if (fresh[g] == g && group[g] == group[f] && alike(t[g], t[f], expected))
                fresh[f] = g;
    }
    memcpy(group, fresh, fault_count * sizeof *group);
    free(fresh);
}

static const char *one_vector(struct matrix *m, size_t index, int groups)
{
    const struct chosen *chosen = &m->choice.chosen[index];
    struct array (*t)[STAGES] = calloc(fault_count ? fault_count : 1, sizeof *t);
    struct vector v;
    struct expected expected;
    const char *error = t ? vector_read_chosen(&v, chosen) : "not enough memory";

    if (error) {
        free(t);
        return error;
    }
    int rounded = vector_round(&v, profile_rounding, m->profile);
    if (!(error = expected_make(&expected, &v, rounded, m->profile, SCOPE_LAYER))) {
        m->applicable[index] = expected.not_applicable == NULL;
        for (size_t f = 0; !error && !expected.not_applicable && f < fault_count; f++) {
            if ((error = mha_alloc(t[f], &v.in)) || (error = results(t[f], &v, &faults[f], m->profile)))
                break;
            m->cells[index * fault_count + f] = judge_one(t[f], &expected);
            FOR(k, STAGES) if (k != OUTPUT && k != ATTN_WEIGHTS && k != ATTN_WEIGHTS_MEAN) {
                free(t[f][k].v);
                t[f][k].v = NULL;
            }
        }
        if (!error && groups && !expected.not_applicable)
            refine(m->group, t, &expected);
        expected_free(&expected);
    }
    FOR(f, fault_count) mha_free(t[f]);
    free(t);
    vector_free(&v);
    return error;
}

/* Move the brief vectors behind the others, which keep their order. Returns how many others there are. */
static size_t brief_last(struct choice *choice)
{
    size_t complete = 0;

    FOR(v, choice->count) {
        struct chosen x = choice->chosen[v];
        if (strstr(x.vector->flags, "brief"))
            continue;
        memmove(choice->chosen + complete + 1, choice->chosen + complete, (v - complete) * sizeof x);
        choice->chosen[complete++] = x;
    }
    return complete;
}

const char *matrix_make(struct matrix *m, const char *vectors, const struct profile *p, int groups)
{
    const char *error;

    *m = (struct matrix){ .profile = p };
    if ((error = corpus_open(&m->corpus, vectors)) || (error = corpus_choose(&m->choice, &m->corpus, 0, NULL)))
        return error;
    m->vectors = brief_last(&m->choice);
    m->cells = calloc(m->vectors * fault_count + 1, sizeof *m->cells);
    m->applicable = calloc(m->vectors + 1, sizeof *m->applicable);
    m->group = calloc(fault_count + 1, sizeof *m->group);
    if (!m->cells || !m->applicable || !m->group)
        return "not enough memory";
    for (size_t v = 0; !error && v < m->vectors; v++)
        error = one_vector(m, v, groups);
    return error;
}

void matrix_free(struct matrix *m)
{
    free(m->cells);
    free(m->applicable);
    free(m->group);
    choice_free(&m->choice);
    corpus_close(&m->corpus);
}

double matrix_clearest(const struct matrix *m, size_t fault, size_t *count)
{
    double clearest = 0;

    *count = 0;
    FOR(v, m->vectors) {
        const struct cell *c = matrix_cell(m, v, fault);
        if (!c->killed)
            continue;
        ++*count;
        clearest = fmax(clearest, c->error);
    }
    return clearest;
}
