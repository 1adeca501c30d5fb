/* SPDX-License-Identifier: MIT */
/* TAP version 13, which every reader knows: https://testanything.org/tap-version-13-specification.html */
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

static void result(FILE *f, const struct report *report, size_t number, const struct verdict *v, const char *const stage[STAGES])
{
    char element[ELEMENT], finding[FINDING], again[AGAIN];
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
    diagnostic(f, "again", report_again(again, report, v));
    fputs("  ...\n", f);
}

static void comment(FILE *f, const char *key, const char *value)
{
    if (!value[0])
        return;
    fprintf(f, "# %s: ", key);
    quote_plain(f, value);
    fputs("\n", f);
}

/* One test more, after those of the vectors. */
static void random_result(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    const struct random_cases *r = report->random;
    char text[FACT];

    if (r->failed) {
        result(f, report, report->count + 1, &r->verdict, stage);
        return;
    }
    fprintf(f, "ok %zu - random cases%s%s\n", report->count + 1, r->not_run || !r->passed ? " # SKIP " : ": ",
            report_fact(text, report, FACT_RANDOM));
}

void report_tap(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    int random = report->random && report->random->asked;
    char text[FACT], statement[STATEMENT], likely[LIKELY], again[AGAIN];
    struct tally all;

    report_tally(&all, report, NULL);
    fprintf(f, "TAP version 13\n1..%zu\n", report->count + (size_t)random);
    for (size_t k = 0; k < report->count; k++)
        result(f, report, k + 1, &report->verdicts[k], stage);
    if (random)
        random_result(f, report, stage);
    for (int k = 0; k < FACTS; k++)
        comment(f, report_fact_names[k], report_fact(text, report, k));
    comment(f, "likely mistake", report_likely(likely, report));
    if (report_worst(report))
        comment(f, "again", report_again(again, report, report_worst(report)));
    fprintf(f, "# %s under %s: %zu passed, %zu failed, %zu skipped; qkvec %s", report_statement(statement, report),
            report->profile->name, all.passed, all.failed, all.skipped, qkvec_version);
    if (report->corpus_version) {
        fputs(", corpus ", f);
        quote_plain(f, report->corpus_version);
        fprintf(f, " %s", report->corpus_hash);
    }
    fputs("\n", f);
    if (report_status(report) == NOT_JUDGED)    /* or a run of skips would count as a pass */
        fprintf(f, "Bail out! %s\n", report_outcome(report));
}
