/* SPDX-License-Identifier: MIT */
#include "capability.h"

void capability_of(struct capability c[FEATURES], const struct report *report)
{
    for (int k = 0; k < FEATURES; k++)
        c[k] = (struct capability){ 0 };
    for (size_t m = 0; m < report->count; m++) {
        const struct verdict *v = &report->verdicts[m];
        for (int k = 0; k < FEATURES; k++) {
            if (!(v->features >> k & 1))
                continue;
            c[k].passed += v->outcome == OUTCOME_PASS;
            c[k].skipped += v->outcome == OUTCOME_SKIP;
            c[k].failed += v->outcome != OUTCOME_PASS && v->outcome != OUTCOME_SKIP && v->outcome != OUTCOME_UNJUDGED;
            if (v->outcome == OUTCOME_PASS && v->policy)
                c[k].policies |= (uint32_t)1 << (v->policy - policies);
        }
    }
}

void capability_text(FILE *f, const struct report *report)
{
    struct capability c[FEATURES];
    size_t any = 0;

    capability_of(c, report);
    for (int k = 0; k < FEATURES; k++)
        any += c[k].passed + c[k].failed + c[k].skipped;
    if (!any)
        return;
    fprintf(f, "\n%-28s %6s %6s %6s\n", "capability", "pass", "fail", "skip");
    for (int k = 0; k < FEATURES; k++) {
        const char *word = c[k].failed ? "no" : !c[k].passed ? "not claimed" : c[k].skipped ? "in part" : "yes";
        if (!(c[k].passed + c[k].failed + c[k].skipped))
            continue;
        fprintf(f, "%-28s %6zu %6zu %6zu   %s", feature_phrases[k], c[k].passed, c[k].failed, c[k].skipped, word);
        for (int p = 0; k == FEATURE_FULLY_MASKED && p < POLICIES; p++)
            if (c[k].policies >> p & 1)
                fprintf(f, ", %s", policies[p].name);
        fputs("\n", f);
    }
}

void capability_json(FILE *f, const struct report *report)
{
    struct capability c[FEATURES];
    const char *comma = "";

    capability_of(c, report);
    fputs("\"capability\":{", f);
    for (int k = 0; k < FEATURES; k++) {
        if (!(c[k].passed + c[k].failed + c[k].skipped))
            continue;
        fprintf(f, "%s\"%s\":{\"passed\":%zu,\"failed\":%zu,\"skipped\":%zu,\"policies\":[", comma, feature_names[k], c[k].passed, c[k].failed, c[k].skipped);
        comma = "";
        for (int p = 0; p < POLICIES; p++)
            if (c[k].policies >> p & 1) {
                fprintf(f, "%s\"%s\"", comma, policies[p].name);
                comma = ",";
            }
        fputs("]}", f);
        comma = ",";
    }
    fputs("}", f);
}
