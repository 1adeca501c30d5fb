/* SPDX-License-Identifier: MIT */
/*
 * Letters: k stage, a answer, m element of a whole array.
 */
#define _POSIX_C_SOURCE 200809L    /* access() */
#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

const char *const outcome_names[OUTCOMES] = { "pass", "fail", "skip", "crash", "timeout", "error" };

/* All given stages against one answer. */
struct match {
    size_t wrong_stages, wrong, measured;
    double squares;
    enum mha_stage first_wrong;
    struct element worst;           /* of the first wrong stage, else of all */
    uint32_t judged;
    char reason[240];
};

static void match_answer(struct match *match, const struct array got[STAGES],
                         const struct answer *answer, const struct profile *p)
{
    *match = (struct match){ .first_wrong = STAGES, .worst.stage = STAGES };
    FOR(k, STAGES) {
        struct comparison c;
        if (!got[k].v || !answer->stage[k].v)
            continue;
        compare_stage(&c, (enum mha_stage)k, &got[k], &answer->stage[k], &answer->sigma[k], p);
        match->judged |= (uint32_t)1 << k;
        match->measured += c.measured;
        match->squares += c.squares;
        match->wrong += c.wrong;
        if (!c.passed && match->wrong_stages++ == 0) {
            match->first_wrong = (enum mha_stage)k;
            match->worst = c.worst;
            memcpy(match->reason, c.reason, sizeof match->reason);
        } else if (!match->wrong_stages && c.worst.stage != STAGES
                   && (match->worst.stage == STAGES || c.worst.error_sigma > match->worst.error_sigma)) {
            match->worst = c.worst;
        }
    }
}

static int better(const struct match *a, const struct match *b)
{
    if (a->wrong_stages != b->wrong_stages)
        return a->wrong_stages < b->wrong_stages;
    return a->wrong < b->wrong;
}

/* The answer that fits best: one without a wrong stage if there is any. */
static const struct policy *match_truth(struct match *best, const struct array got[STAGES], const struct truth *truth)
{
    const struct policy *policy = NULL;

    FOR(a, truth->answers) {
        struct match match;
        match_answer(&match, got, &truth->answer[a], truth->profile);
        if (!policy || better(&match, best)) {
            *best = match;
            policy = truth->answer[a].policy;
        }
    }
    return policy;
}

/* The tightest profile that the results meet on this vector. */
static const struct profile *profile_met(const struct vector *v, struct truth *truth, const struct array got[STAGES])
{
    FOR(k, PROFILES) {
        struct match match;
        if (truth_change_profile(truth, v, &profiles[k]))
            return NULL;
        if (truth->not_applicable)
            continue;
        if (match_truth(&match, got, truth) && !match.wrong_stages)
            return &profiles[k];
    }
    return NULL;
}

void judge(struct verdict *verdict, const struct vector *v, int rounded,
           const struct array got[STAGES], const struct profile *p, enum scope scope)
{
    struct truth truth;
    struct match match;
    const char *error = truth_make(&truth, v, rounded, p, scope);

    *verdict = (struct verdict){ .outcome = OUTCOME_ERROR, .profile = p, .first_wrong = STAGES, .noise = NAN, .worst.stage = STAGES };
    snprintf(verdict->vector, sizeof verdict->vector, "%s", v->name);
    if (error) {
        snprintf(verdict->reason, sizeof verdict->reason, "%s", error);
        return;
    }
    if (truth.not_applicable) {
        verdict->outcome = OUTCOME_SKIP;
        snprintf(verdict->reason, sizeof verdict->reason, "not applicable to %s: %s", p->name, truth.not_applicable);
        truth_free(&truth);
        return;
    }
    verdict->policy = match_truth(&match, got, &truth);
    verdict->judged = match.judged;
    verdict->first_wrong = match.first_wrong;
    verdict->worst = match.worst;
    verdict->noise = match.measured ? sqrt(match.squares / (double)match.measured) : NAN;
    enum mha_stage required = scope == SCOPE_CORE ? HEAD_OUTPUTS : OUTPUT;
    if (!got[required].v) {
        verdict->outcome = OUTCOME_FAIL;
        snprintf(verdict->reason, sizeof verdict->reason, "%s: not given, and it is the one that must be",
                 truth.answer[0].stage[required].name);
    } else if (match.wrong_stages) {
        verdict->outcome = OUTCOME_FAIL;
        snprintf(verdict->reason, sizeof verdict->reason, "%s", match.reason);
    } else {
        verdict->outcome = OUTCOME_PASS;
    }
    verdict->meets = profile_met(v, &truth, got);
    truth_free(&truth);
}

/* ---- doors ---- */

static void answer_reference(struct door *self, struct result *result, const struct vector *v, const struct profile *p)
{
    const char *error = mha_alloc(result->got, &v->in);

    (void)self, (void)p;
    if (error) {
        result->outcome = OUTCOME_ERROR;
        snprintf(result->reason, sizeof result->reason, "%s", error);
        return;
    }
    mha_forward(result->got, &v->in);
}

struct door door_reference(void)
{
    return (struct door){ .name = "reference interpreter", .answer = answer_reference };
}

/* A member as a stage: any float type, whatever shape (compare_stage judges that). */
static int take_member(struct array *got, const struct npz_array *member)
{
    *got = (struct array){ .name = member->name, .ndim = member->ndim, .size = member->size };
    FOR(k, 4) got->shape[k] = member->shape[k];
    got->v = malloc((member->size ? member->size : 1) * sizeof *got->v);
    if (got->v)
        FOR(m, member->size) got->v[m] = npz_value(member, m);
    return got->v != NULL;
}

/* Every member by its name: "" in reason, or what is wrong with the file. */
static void take_members(struct result *result, const struct npz *z, const struct array stage[STAGES])
{
    FOR(m, z->count) {
        const struct npz_array *member = &z->arrays[m];
        size_t k = 0;
        while (k < STAGES && strcmp(stage[k].name, member->name) != 0)
            k++;
        if (k == STAGES) {
            snprintf(result->reason, sizeof result->reason, "%s: not the name of a stage, ignored", member->name);
        } else if (member->type != NPZ_F2 && member->type != NPZ_F4 && member->type != NPZ_F8) {
            result->outcome = OUTCOME_FAIL;
            snprintf(result->reason, sizeof result->reason, "%s: found type %s, wanted <f2, <f4 or <f8",
                     member->name, npz_type_name(member->type));
            return;
        } else if (!take_member(&result->got[k], member)) {
            result->outcome = OUTCOME_ERROR;
            snprintf(result->reason, sizeof result->reason, "%s: not enough memory", member->name);
            return;
        } else {
            result->got[k].name = stage[k].name;    /* outlives the file */
        }
    }
}

static void answer_results(struct door *self, struct result *result, const struct vector *v, const struct profile *p)
{
    const struct door_results *where = self->state;
    char path[4096];
    struct array stage[STAGES];    /* for the names */
    struct npz z;
    const char *error;

    (void)p;
    if (snprintf(path, sizeof path, "%s/%s.npz", where->dir, v->name) >= (int)sizeof path) {
        result->outcome = OUTCOME_ERROR;
        snprintf(result->reason, sizeof result->reason, "the path of the results is too long");
        return;
    }
    if (access(path, F_OK)) {
        result->outcome = where->allow_missing ? OUTCOME_SKIP : OUTCOME_FAIL;
        snprintf(result->reason, sizeof result->reason, "no results: there is no %.400s", path);
        return;
    }
    if ((error = npz_read(&z, path))) {
        result->outcome = OUTCOME_FAIL;
        snprintf(result->reason, sizeof result->reason, "%.160s: %.320s", path, error);
        return;
    }
    if ((error = mha_alloc(stage, &v->in))) {
        result->outcome = OUTCOME_ERROR;
        snprintf(result->reason, sizeof result->reason, "%s", error);
    } else {
        take_members(result, &z, stage);
        mha_free(stage);
    }
    npz_free(&z);
}

struct door door_results(struct door_results *where)
{
    return (struct door){ .name = where->dir, .answer = answer_results, .state = where };
}

/* ---- one vector ---- */

static double round_to(const void *profile, double x)
{
    return profile_round(profile, x);
}

const char *judge_file(struct verdict *verdict, struct array kept[STAGES], struct door *door, const char *path, const char *name,
                       const struct profile *p, char error[600])
{
    struct vector v;
    struct result result = { .outcome = OUTCOME_PASS };
    const char *wrong = vector_read(&v, path, name);

    if (wrong) {
        snprintf(error, 600, "%s", wrong);
        return error;
    }
    int rounded = vector_round(&v, round_to, p);
    door->answer(door, &result, &v, p);
    if (result.outcome == OUTCOME_PASS) {
        judge(verdict, &v, rounded, result.got, p, door->scope);
        if (!verdict->reason[0])
            memcpy(verdict->reason, result.reason, sizeof verdict->reason);
    } else {
        *verdict = (struct verdict){ .outcome = result.outcome, .profile = p, .first_wrong = STAGES, .noise = NAN, .worst.stage = STAGES };
        snprintf(verdict->vector, sizeof verdict->vector, "%s", v.name);
        memcpy(verdict->reason, result.reason, sizeof verdict->reason);
    }
    if (kept)
        memcpy(kept, result.got, sizeof result.got);
    else
        mha_free(result.got);
    vector_free(&v);
    return NULL;
}
