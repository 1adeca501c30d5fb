/* SPDX-License-Identifier: MIT */
/* TAP version 14: https://testanything.org/tap-version-14-specification.html */
#include "quote.h"
#include "parts.h"

static void diagnostic(FILE *f, const char *key, const char *value)
{
    if (!value[0])
        return;
    fprintf(f, "  %s: ", key);
    quote_json(f, value);
    fputs("\n", f);
}

static void result(FILE *f, size_t number, const struct verdict *v, const char *const stage[STAGES])
{
    char element[ELEMENT], finding[FINDING];
    int good = v->outcome == OUTCOME_PASS || v->outcome == OUTCOME_SKIP;

    fprintf(f, "%sok %zu - ", good ? "" : "not ", number);
    for (const char *c = v->vector; *c; c++)    /* '#' begins a directive */
        fprintf(f, *c == '#' || *c == '\\' ? "\\%c" : "%c", (unsigned char)*c < 0x20 ? '?' : *c);
    if (v->outcome == OUTCOME_SKIP) {
        fputs(" # SKIP ", f);
        quote_plain(f, v->reason);
    }
    fputs("\n", f);
    if (good)
        return;
    fputs("  ---\n", f);
    diagnostic(f, "message", v->reason);
    diagnostic(f, "verdict", outcome_names[v->outcome]);
    diagnostic(f, "first_wrong_stage", v->first_wrong < STAGES ? stage[v->first_wrong] : "");
    diagnostic(f, "worst", report_element(element, v, stage));
    diagnostic(f, "meets", v->meets ? v->meets->name : "");
    diagnostic(f, "finding", report_finding(finding, v));
    fputs("  ...\n", f);
}

void report_tap(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    struct tally all;

    report_tally(&all, report, NULL);
    fprintf(f, "TAP version 14\n1..%zu\n", report->count);
    for (size_t k = 0; k < report->count; k++)
        result(f, k + 1, &report->verdicts[k], stage);
    fprintf(f, "# %s under %s: %zu passed, %zu failed, %zu skipped; qkvec %s", report_outcome(report),
            report->profile->name, all.passed, all.failed, all.skipped, qkvec_version);
    if (report->corpus_version) {
        fputs(", corpus ", f);
        quote_plain(f, report->corpus_version);
        fprintf(f, " %s", report->corpus_hash);
    }
    fputs("\n", f);
    if (report_status(report) == 2)    /* or a run of skips would count as a pass */
        fputs("Bail out! nothing was judged\n", f);
}
