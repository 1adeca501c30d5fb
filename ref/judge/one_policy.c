/* SPDX-License-Identifier: MIT */
/*
 * Letters: k verdict, c combination of policies, q question.
 */
#include <stdio.h>
#include <string.h>

#include "judge.h"

const char *policy_sentence(char text[POLICY_SENTENCE], const struct policy *policy, const struct profile *p)
{
    if (policy == &policies[POLICY_SCORES_OVERFLOW])
        snprintf(text, POLICY_SENTENCE, "scores overflow %s before they are scaled: NaN from |q k| > %g on", p->name, p->largest);
    else
        snprintf(text, POLICY_SENTENCE, "%s", policy->sentence);
    return text;
}

/* The sentences of a combination's policies, joined by "; ". */
static const char *sentences(char text[320], size_t combination, const struct profile *p)
{
    char one[POLICY_SENTENCE];
    size_t used = 0;

    text[0] = 0;
    for (int q = 0; q < QUESTIONS; q++) {
        int policy = policy_of(combination, (enum policy_question)q);
        if (policy == POLICY_PYTORCH || used + POLICY_SENTENCE + 2 > 320)
            continue;
        used += (size_t)snprintf(text + used, 320 - used, "%s%s", used ? "; " : "", policy_sentence(one, &policies[policy], p));
    }
    return used ? text : strcpy(text, policies[POLICY_PYTORCH].sentence);
}

/* "zero_rows and masked_ignored" */
static const char *names(char text[320], size_t combination)
{
    size_t used = 0;

    for (int q = 0; q < QUESTIONS; q++) {
        int policy = policy_of(combination, (enum policy_question)q);
        if (policy != POLICY_PYTORCH)
            used += (size_t)snprintf(text + used, 320 - used, "%s%s", used ? " and " : "", policies[policy].name);
    }
    return used ? text : strcpy(text, policies[POLICY_PYTORCH].name);
}

/* "mean_rows,scores_overflow": what --allow must name. */
static const char *allow_names(char text[120], size_t combination)
{
    size_t used = 0;

    text[0] = 0;
    for (int q = 0; q < QUESTIONS; q++) {
        const struct policy *p = &policies[policy_of(combination, (enum policy_question)q)];
        if (!p->conformant)    /* names of 30 bytes at most */
            used += (size_t)snprintf(text + used, 120 - used, "%s%s", used ? "," : "", p->allowed_by ? p->allowed_by : p->name);
    }
    return text;
}

static size_t smallest(uint64_t set)
{
    size_t c = 0;

    while (c < 63 && !(set >> c & 1))
        c++;
    return c;
}

void verdict_keep_to(struct verdict *verdict, size_t combination, uint64_t allowed)
{
    char here[320], elsewhere[320], names_of[120];
    int keeps = verdict->fits >> combination & 1;
    size_t own = keeps ? policy_reduced(combination, verdict->fits) : smallest(verdict->fits & allowed ? verdict->fits & allowed : verdict->fits);

    verdict->combination = own;
    verdict->policy = policy_first(own);
    verdict->is_policy = !(keeps && allowed >> own & 1);
    verdict->outcome = verdict->is_policy ? OUTCOME_FAIL : OUTCOME_PASS;
    if (!verdict->is_policy)
        return;
    if (keeps)
        snprintf(verdict->reason, sizeof verdict->reason, "%s; accepted with --allow %s", sentences(here, own, verdict->profile),
                 allow_names(names_of, own));
    else
        snprintf(verdict->reason, sizeof verdict->reason, "a kernel keeps to one policy: found %.200s in this one, %.200s in others",
                 names(here, own), names(elsewhere, combination));
}

size_t verdicts_keep_to_one(struct verdict *verdicts, size_t count, uint64_t allowed)
{
    size_t best = 0, most = 0;

    for (int pass = 0; pass < 2; pass++)    /* of two that fit alike, an allowed one */
        for (size_t c = 0; c < policy_combinations(); c++) {
            size_t votes = 0;
            if ((int)(allowed >> c & 1) == pass)
                continue;
            for (size_t k = 0; k < count; k++)
                votes += verdicts[k].fits >> c & 1;
            if (votes > most) {
                most = votes;
                best = c;
            }
        }
    for (size_t k = 0; k < count; k++)
        if (verdicts[k].fits && (verdicts[k].outcome == OUTCOME_PASS || verdicts[k].is_policy))
            verdict_keep_to(&verdicts[k], best, allowed);
    return best;
}

uint64_t verdicts_common(const struct verdict *verdicts, size_t count)
{
    uint64_t set = ~(uint64_t)0;

    for (size_t k = 0; k < count; k++)
        set &= verdicts[k].fits ? verdicts[k].fits : set;
    return set;
}
