/* SPDX-License-Identifier: MIT */
/*
 * Letters: k verdict, q question, i policy.
 */
#include <stdio.h>
#include <string.h>

#include "parts.h"

/* The policies of a combination: bit i for policies[i]. */
static uint32_t policies_in(size_t combination)
{
    uint32_t set = 0;

    for (int q = 0; q < QUESTIONS; q++)
        set |= (uint32_t)1 << policy_of(combination, (enum policy_question)q);
    return set & ~(uint32_t)1;
}

const char *report_policies(char text[FACT], const struct report *report)
{
    uint32_t set = 0;
    size_t used = 0;

    for (size_t k = 0; k < report->count; k++)
        if (report->verdicts[k].fits >> report->combination & 1)
            set |= policies_in(report->verdicts[k].combination);
    for (int i = 1; i < POLICIES && used < FACT; i++)
        if (set >> i & 1)
            used += (size_t)snprintf(text + used, FACT - used, "%s%s", used ? ", " : "", policies[i].name);
    return used ? text : strcpy(text, policies[POLICY_PYTORCH].name);
}

uint32_t report_refused(const struct report *report)
{
    uint32_t set = 0;

    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k];
        if (v->outcome == OUTCOME_PASS || v->outcome == OUTCOME_SKIP)
            continue;
        if (!v->is_policy || !(v->fits >> report->combination & 1))
            return 0;
        set |= policies_in(v->combination);
    }
    for (int i = 0; i < POLICIES; i++)
        if (policies[i].conformant)
            set &= ~((uint32_t)1 << i);
    return set;
}

const char *report_but_for(char text[BUT_FOR], const struct report *report)
{
    uint32_t refused = report_refused(report);
    char one[POLICY_SENTENCE];
    size_t used = 0;

    text[0] = 0;
    if (report->random && report->random->failed)
        refused = 0;
    for (int i = 0; i < POLICIES && used < BUT_FOR; i++)
        if (refused >> i & 1)
            used += (size_t)snprintf(text + used, BUT_FOR - used, "%s%s", used ? "; " : "", policy_sentence(one, &policies[i], report->profile));
    return text;
}
