/* SPDX-License-Identifier: MIT */
/*
 * Letters: k stage, a answer, m element of a whole array.
 */
#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feature.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

const enum mha_stage returned_stages[RETURNED] = { OUTPUT, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN, HEAD_OUTPUTS };

const char *const outcome_names[OUTCOMES] = { "pass", "fail", "skip", "crash", "timeout", "error", "unjudged" };

/* All given stages against one answer. */
struct match {
    size_t wrong_stages, wrong, measured;
    double squares;
    enum mha_stage first_wrong;
    struct element worst;           /* of the first wrong stage, else of all */
    uint32_t judged;
    int finite;                     /* some number that was compared is finite */
    char reason[240];
};

static int has_finite(const struct array *a)
{
    FOR(m, a->size) if (isfinite(a->v[m])) return 1;
    return 0;
}

static void match_answer(struct match *match, const struct array got[STAGES],
                         const struct answer *answer, const struct profile *p)
{
    *match = (struct match){ .first_wrong = STAGES, .worst.stage = STAGES };
    FOR(k, STAGES) {
        struct comparison c;
        if (!got[k].v || !answer->stage[k].v || !vector_keeps((enum mha_stage)k))
            continue;
        compare_stage(&c, (enum mha_stage)k, &got[k], &answer->stage[k], &answer->sigma[k], p);
        match->judged |= (uint32_t)1 << k;
        match->measured += c.measured;
        match->finite = match->finite || c.measured || has_finite(&answer->stage[k]);
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

static size_t first_of(uint64_t set)
{
    size_t first = 0;

    while (first < 63 && !(set >> first & 1))
        first++;
    return first;
}

static int better(const struct match *a, const struct match *b)
{
    if (a->wrong_stages != b->wrong_stages)
        return a->wrong_stages < b->wrong_stages;
    return a->wrong < b->wrong;
}

/* Match got with the answers that a combination of the set gives, or with the
 * others if outside is set. Set *best to the best match: one without a wrong stage
 * if there is any; *nearest to a combination that gives it. Returns the
 * combinations whose answers match. */
static uint64_t match_expected(struct match *best, size_t *nearest, const struct array got[STAGES], const struct expected *expected,
                               uint64_t set, int outside)
{
    uint64_t fits = 0;
    int some = 0;

    FOR(a, expected->answers + expected->others) {
        const struct answer *answer = &expected->answer[a];
        struct match match;
        if (((answer->combinations & set) == 0) != outside)
            continue;
        match_answer(&match, got, answer, expected->profile);
        fits |= match.wrong_stages ? 0 : answer->combinations;
        if (!some++ || better(&match, best)) {
            *best = match;
            *nearest = first_of(answer->combinations);
        }
    }
    return fits;
}

/* Combinations under which scores do not overflow: a range is that of one type. */
static uint64_t in_range(void)
{
    uint64_t set = 0;

    FOR(c, policy_combinations()) set |= (uint64_t)(policy_of(c, QUESTION_OVERFLOW) == POLICY_PYTORCH) << c;
    return set;
}

/* The tightest profile that the results meet on this vector; passed tells
 * whether they meet the one of expected, which is then the loosest to be tried. */
static const struct profile *profile_met(const struct vector *v, struct expected *expected, const struct array got[STAGES], int passed)
{
    const struct profile *asked = expected->profile;

    FOR(k, PROFILES) {
        struct match match;
        size_t nearest;
        if (&profiles[k] == asked) {
            if (passed)
                return asked;
            continue;
        }
        if (expected_change_profile(expected, v, &profiles[k]))
            return NULL;
        if (!expected->not_applicable && match_expected(&match, &nearest, got, expected, in_range(), 0))
            return &profiles[k];
    }
    return NULL;
}

/* What passes is not tried on tighter profiles, if that is enough for the adapter. */
static void judge_case(struct verdict *verdict, const struct vector *v, int rounded, const struct array got[STAGES],
                       const struct profile *p, const struct adapter *adapter)
{
    enum scope scope = adapter->scope;
    struct expected expected;
    struct match match;
    const char *error = expected_make_beside(&expected, v, rounded, p, scope, adapter->is_reference ? got : NULL);

    *verdict = (struct verdict){ .outcome = OUTCOME_UNJUDGED, .profile = p, .first_wrong = STAGES, .noise = NAN, .worst.stage = STAGES };
    snprintf(verdict->vector, sizeof verdict->vector, "%s", v->name);
    if (error) {
        snprintf(verdict->reason, sizeof verdict->reason, "%s", error);
        return;
    }
    if (expected.not_applicable) {
        verdict->outcome = OUTCOME_SKIP;
        verdict->not_applicable = 1;
        snprintf(verdict->reason, sizeof verdict->reason, "not applicable to %s: %s", p->name, expected.not_applicable);
        expected_free(&expected);
        return;
    }
    uint64_t allowed = adapter->allowed ? adapter->allowed : policy_allowed(0), refused;
    struct match other;
    size_t other_nearest;
    verdict->fits = match_expected(&match, &verdict->combination, got, &expected, allowed, 0);
    refused = match_expected(&other, &other_nearest, got, &expected, allowed, 1);
    if (!verdict->fits && refused) {
        match = other;
        verdict->combination = other_nearest;
    }
    verdict->fits |= refused;
    verdict->policy = policy_first(verdict->combination);
    verdict->judged = match.judged;
    verdict->finite = match.finite;
    verdict->first_wrong = match.first_wrong;
    verdict->worst = match.worst;
    verdict->noise = match.measured ? sqrt(match.squares / (double)match.measured) : NAN;
    enum mha_stage required = scope == SCOPE_CORE ? HEAD_OUTPUTS : OUTPUT;
    if (!got[required].v) {
        verdict->fits = 0;
        verdict->outcome = OUTCOME_FAIL;
        snprintf(verdict->reason, sizeof verdict->reason, "%s: not given, and it is the one that must be",
                 expected.answer[0].stage[required].name);
    } else if (match.wrong_stages) {
        verdict->outcome = OUTCOME_FAIL;
        snprintf(verdict->reason, sizeof verdict->reason, "%s", match.reason);
    } else {
        verdict->outcome = OUTCOME_PASS;
        verdict_keep_to(verdict, verdict->combination, allowed);
    }
    if (verdict->outcome == OUTCOME_PASS && adapter->pass_suffices)
        verdict->meets = p;
    else if (got[required].v)
        verdict->meets = profile_met(v, &expected, got, !match.wrong_stages);
    expected_free(&expected);
}

void judge(struct verdict *verdict, const struct vector *v, int rounded,
           const struct array got[STAGES], const struct profile *p, enum scope scope)
{
    judge_case(verdict, v, rounded, got, p, &(struct adapter){ .scope = scope });
}

/* ---- adapters ---- */

static void answer_reference(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p)
{
    const char *error = mha_alloc(result->got, &v->in);

    (void)self, (void)p;
    if (error) {
        result->outcome = OUTCOME_UNJUDGED;
        snprintf(result->reason, sizeof result->reason, "%s", error);
        return;
    }
    mha_forward(result->got, &v->in);
}

struct adapter adapter_reference(void)
{
    return (struct adapter){ .name = "reference", .answer = answer_reference, .is_reference = 1 };
}

/* ---- one vector ---- */

/* What the adapter had to say goes behind what the judge says. */
static void add_reason(struct verdict *verdict, const char *said)
{
    size_t used = strlen(verdict->reason);

    if (said[0])
        snprintf(verdict->reason + used, sizeof verdict->reason - used, "%s%s", used ? "; " : "", said);
}

/* Of what passes nobody asks for the steps on the way, which are most of the numbers. */
static void keep_returned(struct array got[STAGES])
{
    FOR(k, STAGES) {
        int kept = 0;
        FOR(a, RETURNED) kept = kept || returned_stages[a] == k;
        if (!kept) {
            free(got[k].v);
            got[k].v = NULL;
        }
    }
}

/* v is used up. */
static void judge_vector(struct verdict *verdict, struct array kept[STAGES], struct adapter *adapter, struct vector *v, const struct profile *p)
{
    struct result result = { .outcome = OUTCOME_PASS };
    int rounded = expected_round(v, p);

    adapter->answer(adapter, &result, v, p);
    if (result.outcome == OUTCOME_PASS) {
        judge_case(verdict, v, rounded, result.got, p, adapter);
        add_reason(verdict, result.reason);
    } else {
        *verdict = (struct verdict){ .outcome = result.outcome, .profile = p, .first_wrong = STAGES, .noise = NAN, .worst.stage = STAGES };
        snprintf(verdict->vector, sizeof verdict->vector, "%s", v->name);
        memcpy(verdict->reason, result.reason, sizeof verdict->reason);
    }
    verdict->features = features_of(v);
    if (kept) {
        if (verdict->outcome == OUTCOME_PASS)
            keep_returned(result.got);
        memcpy(kept, result.got, sizeof result.got);
    } else {
        mha_free(result.got);
    }
    vector_free(v);
}

const char *judge_arrays(struct verdict *verdict, struct array kept[STAGES], struct adapter *adapter, struct npz *file, const char *name,
                         const struct profile *p, char error[600])
{
    struct vector v;
    const char *wrong = vector_from(&v, file, name);

    if (wrong) {
        snprintf(error, 600, "%s", wrong);
        return error;
    }
    judge_vector(verdict, kept, adapter, &v, p);
    return NULL;
}
