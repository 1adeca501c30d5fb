/* SPDX-License-Identifier: MIT */
/*
 * Letters: k stage, m element of a whole array.
 */
#include "expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../store/same.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

int expected_round(struct vector *v, const struct profile *p)
{
    return p == &profiles[PROFILE_FLOAT64] ? 0 : vector_round(v, profile_rounding, p);    /* all numbers are double */
}

static const struct npz_array *stored_stage(const struct answer *a, const struct vector *v, size_t k)
{
    const char *policy = k < POLICY_FIRST_STAGE ? NULL : a->policy->name;

    return a->stage[k].v ? vector_stage(v, policy, "", a->stage[k].name) : NULL;
}

/* What the file holds goes before what the reference computes: then a
 * disagreement of the reference is seen, and is not judged by itself. */
static void take_stored(struct answer *a, const struct vector *v)
{
    FOR(k, STAGES) {
        const struct npz_array *stored = stored_stage(a, v, k);
        if (stored)
            npz_values(a->stage[k].v, stored);
    }
}

/* Copy from the reference's stages what the file does not hold: of a complete
 * file the rows and a transpose, which no file holds. */
static void take_computed(struct answer *a, const struct vector *v, const struct array computed[STAGES])
{
    FOR(k, STAGES) if (a->stage[k].v && !stored_stage(a, v, k))
        memcpy(a->stage[k].v, computed[k].v, computed[k].size * sizeof(real));
}

/* What the policies change, before out_proj: two answers that agree here are one. */
static int same_core(const struct answer *a, const struct answer *b)
{
    static const enum mha_stage changed[] = { SCORES, MASKED_SCORES, ATTN_WEIGHTS, HEAD_OUTPUTS };

    FOR(k, sizeof changed / sizeof *changed) FOR(m, a->stage[changed[k]].size) {
        double x = a->stage[changed[k]].v[m], y = b->stage[changed[k]].v[m];
        if (!same_number(x, y))
            return 0;
    }
    return 1;
}

void expected_heads(struct array t[STAGES], const struct mha_in *in, const struct profile *p, enum scope scope)
{
    mha_projections(t, in);
    if (scope == SCOPE_CORE)
        for (int k = Q_HEADS; k <= V_HEADS; k++)
            FOR(m, t[k].size) t[k].v[m] = profile_round(p, t[k].v[m]);
}

/* What is only laid out anew is exact. */
static int exact(size_t k)
{
    return k <= V_WEIGHT_T || k == OUT_WEIGHT_T;
}

static void sigma_free(struct array sigma[STAGES])
{
    real *zeros = sigma[OUT_WEIGHT_T].v;

    FOR(k, STAGES) if (exact(k)) sigma[k].v = NULL;
    mha_free(sigma);
    free(zeros);
}

/* One for each stage that there is. Those of exact stages, which have most of
 * the numbers, are the same zeros. */
static const char *sigma_alloc(struct array sigma[STAGES], const struct array stage[STAGES])
{
    size_t largest = 1;
    real *zeros;
    int ok;

    FOR(k, STAGES) if (exact(k) && stage[k].size > largest) largest = stage[k].size;
    zeros = calloc(largest, sizeof *zeros);
    ok = zeros != NULL;
    FOR(k, STAGES) {
        sigma[k] = stage[k];
        if (!stage[k].v)
            continue;
        sigma[k].v = exact(k) ? zeros : calloc(stage[k].size ? stage[k].size : 1, sizeof(real));
        ok = ok && sigma[k].v;
    }
    if (ok)
        return NULL;
    sigma_free(sigma);
    return "not enough memory for the envelope";
}

static void answer_free(struct answer *a)
{
    mha_free(a->stage);
    sigma_free(a->sigma);
}

static const char *answer_alloc(struct answer *a, const struct vector *v)
{
    const char *error;

    *a = (struct answer){ .policy = &policies[POLICY_PYTORCH] };
    if ((error = mha_alloc(a->stage, &v->in)))
        return error;
    if ((error = sigma_alloc(a->sigma, a->stage)))
        mha_free(a->stage);
    return error;
}

/* PyTorch's main answer. */
static const char *answer_main(struct answer *a, const struct vector *v, int stored,
                               const struct profile *p, enum scope scope, const struct array *computed)
{
    const char *error = answer_alloc(a, v);

    if (error)
        return error;
    if (computed && stored) {
        take_computed(a, v, computed);
    } else {
        expected_heads(a->stage, &v->in, p, scope);
        mha_core(a->stage, &v->in);
        mha_output(a->stage, &v->in);
    }
    if (stored)
        take_stored(a, v);
    return NULL;
}

/* The answer of a combination, from the main one; *again: it is one of those that are there. */
static const char *answer_of(struct answer *a, int *again, struct expected *expected, size_t combination, const struct vector *v, int stored,
                             double largest)
{
    const struct answer *first = &expected->answer[0];
    const char *error = answer_alloc(a, v);
    int single = policy_single(combination);

    if (error)
        return error;
    FOR(k, STAGES) if (a->stage[k].v)
        memcpy(a->stage[k].v, first->stage[k].v, a->stage[k].size * sizeof(real));
    policy_apply(a->stage, &v->in, combination, largest);
    *again = 0;
    for (size_t k = 0; k < expected->answers && !*again; k++)    /* all of them, until they are parted */
        if ((*again = same_core(&expected->answer[k], a)))
            expected->answer[k].combinations |= (uint64_t)1 << combination;
    if (*again) {
        answer_free(a);
        return NULL;
    }
    mha_output(a->stage, &v->in);
    a->combinations = (uint64_t)1 << combination;
    a->policy = single < POLICIES ? &policies[single] : NULL;
    if (stored && a->policy && vector_has_policy(v, a->policy->name))
        take_stored(a, v);
    return NULL;
}

/* Add bit combination to the answer that has bit part. */
static void share(struct expected *expected, size_t part, size_t combination)
{
    FOR(a, expected->answers) if (expected->answer[a].combinations >> part & 1)
        expected->answer[a].combinations |= (uint64_t)1 << combination;
}

/* Put the answers that no combination of conformant policies gives at the end. */
static void part_others(struct expected *expected)
{
    uint64_t conformant = policy_allowed(0);
    size_t all = expected->answers, kept = 0;

    FOR(a, all) if (expected->answer[a].combinations & conformant) {
        struct answer one = expected->answer[a];
        memmove(&expected->answer[kept + 1], &expected->answer[kept], (a - kept) * sizeof one);
        expected->answer[kept++] = one;
    }
    expected->answers = kept;
    expected->others = all - kept;
}

/* All answers. Policies on questions that do not arise change nothing. */
static const char *all_answers(struct expected *expected, const struct vector *v, int stored, const struct profile *p, const struct array *computed)
{
    const char *error;

    if (!(expected->answer = calloc(1, sizeof *expected->answer)))
        return "not enough memory for the answers";
    if ((error = answer_main(&expected->answer[0], v, stored, p, expected->scope, computed)))
        return error;
    expected->answers = 1;
    expected->answer[0].combinations = 1;
    uint32_t questions = policy_questions(expected->answer[0].stage, p->largest);
    for (size_t c = 1; c < policy_combinations(); c++) {
        size_t part = policy_restricted(c, questions);
        int again = 0;
        if (part != c) {
            share(expected, part, c);
            continue;
        }
        struct answer *grown = realloc(expected->answer, (expected->answers + 1) * sizeof *grown);
        if (!grown)
            return "not enough memory for the answers";
        expected->answer = grown;
        if ((error = answer_of(&grown[expected->answers], &again, expected, c, v, stored, p->largest)))
            return error;
        expected->answers += !again;
    }
    part_others(expected);
    return NULL;
}

const char *expected_make(struct expected *expected, const struct vector *v, int rounded,
                       const struct profile *p, enum scope scope)
{
    return expected_make_beside(expected, v, rounded, p, scope, NULL);
}

const char *expected_make_beside(struct expected *expected, const struct vector *v, int rounded,
                              const struct profile *p, enum scope scope, const struct array *computed)
{
    *expected = (struct expected){ .scope = scope };
    const char *error = all_answers(expected, v, !rounded && scope == SCOPE_LAYER, p, computed);

    if (!error)
        error = expected_change_profile(expected, v, p);
    if (rounded & 2)
        expected->not_applicable = expected->out_of_range = "an input leaves the range of the type";
    if (error)
        expected_free(expected);
    return error;
}

const char *expected_change_profile(struct expected *expected, const struct vector *v, const struct profile *p)
{
    const char *error;

    expected->profile = p;
    expected->not_applicable = expected->out_of_range;
    FOR(k, expected->answers + expected->others) {
        struct answer *a = &expected->answer[k];
        if ((error = envelope(a->sigma, a->stage, &v->in, p, expected->scope)))
            return error;
        if (!expected->not_applicable)
            expected->not_applicable = envelope_applies(a->sigma, a->stage, p);
    }
    return NULL;
}

void expected_free(struct expected *expected)
{
    FOR(k, expected->answers + expected->others) answer_free(&expected->answer[k]);
    free(expected->answer);
    expected->answer = NULL;
    expected->answers = expected->others = 0;
}
