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
    return a->stage[k].v ? vector_stage(v, k < POLICY_FIRST_STAGE ? NULL : a->policy->name, "", a->stage[k].name) : NULL;
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

/* Of a file that holds all it may, only what no file holds is left to take from
 * the reference's stages: the rows, and a transpose. */
static int take_laid_out(struct answer *a, const struct vector *v, const struct array computed[STAGES])
{
    FOR(k, STAGES) if (a->stage[k].v && vector_keeps((enum mha_stage)k) && !stored_stage(a, v, k)) return 0;
    FOR(k, STAGES) if (!vector_keeps((enum mha_stage)k))
        memcpy(a->stage[k].v, computed[k].v, computed[k].size * sizeof(real));
    return 1;
}

/* Is b another answer than a, or the same numbers again? */
static int differs(const struct answer *a, const struct answer *b)
{
    FOR(k, STAGES) if (a->stage[k].v) FOR(m, a->stage[k].size) {
        double x = a->stage[k].v[m], y = b->stage[k].v[m];
        if (!same_number(x, y))
            return 1;
    }
    return 0;
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

/* A file with golden stages lists its policies; elsewhere a policy counts where
 * it changes something. */
static const char *answer_make(struct answer *a, const struct vector *v, int rounded, const struct policy *policy,
                               const struct profile *p, enum scope scope, const struct array *computed)
{
    int stored = !rounded && scope == SCOPE_LAYER;
    const char *error;

    *a = (struct answer){ .policy = policy };
    if ((error = mha_alloc(a->stage, &v->in)))
        return error;
    if ((error = sigma_alloc(a->sigma, a->stage))) {
        mha_free(a->stage);
        return error;
    }
    if (!computed || !stored || !take_laid_out(a, v, computed)) {
        expected_heads(a->stage, &v->in, p, scope);
        policy_from_heads(a->stage, &v->in, policy);
    }
    if (stored)
        take_stored(a, v);
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
    int golden = vector_stage(v, NULL, "", "output") != NULL;
    const char *error = NULL;

    *expected = (struct expected){ .scope = scope };
    FOR(k, POLICIES) {
        struct answer *a = &expected->answer[expected->answers];
        if (golden && !vector_has_policy(v, policies[k].name))
            continue;
        if ((error = answer_make(a, v, rounded, &policies[k], p, scope, computed)))
            break;
        if (!golden && k > 0 && !differs(&expected->answer[0], a))
            answer_free(a);
        else
            expected->answers++;
    }
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
    FOR(k, expected->answers) {
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
    FOR(k, expected->answers) answer_free(&expected->answer[k]);
    expected->answers = 0;
}
