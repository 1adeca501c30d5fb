/* SPDX-License-Identifier: MIT */
#include "quote.h"
#include "parts.h"

static void attribute(FILE *f, const char *name, const char *value)
{
    fprintf(f, " %s=\"", name);
    quote_xml(f, value);
    fputs("\"", f);
}

static void property(FILE *f, const char *name, const char *value)
{
    fputs("  <property", f);
    attribute(f, "name", name);
    attribute(f, "value", value);
    fputs("/>\n", f);
}

static void line(FILE *f, const char *key, const char *value)
{
    if (!value[0])
        return;
    fprintf(f, "%s: ", key);
    quote_xml(f, value);
    fputs("\n", f);
}

static void testcase(FILE *f, const struct report *report, const struct verdict *v, const char *const stage[STAGES])
{
    char again[AGAIN];
    char category[CATEGORY], element[ELEMENT], finding[FINDING];
    /* a kernel's wrong numbers are a failure, what kept it from any an error */
    const char *tag = v->outcome == OUTCOME_FAIL ? "failure" : "error";

    report_category(category, v);
    fputs(" <testcase", f);
    attribute(f, "classname", category);
    attribute(f, "name", v->vector);
    if (v->outcome == OUTCOME_PASS) {
        fputs("/>\n", f);
        return;
    }
    if (v->outcome == OUTCOME_SKIP) {
        fputs("><skipped", f);
        attribute(f, "message", v->reason);
        fputs("/></testcase>\n", f);
        return;
    }
    fprintf(f, ">\n  <%s", tag);
    attribute(f, "type", outcome_names[v->outcome]);
    attribute(f, "message", v->reason);
    fputs(">", f);
    line(f, "first wrong stage", v->first_wrong < STAGES ? stage[v->first_wrong] : "");
    line(f, "worst element", report_element(element, v, stage));
    line(f, "meets", v->meets ? v->meets->name : "");
    line(f, "finding", report_finding(finding, v));
    line(f, "again", report_again(again, report, v));
    fprintf(f, "</%s>\n </testcase>\n", tag);
}

/* A suite of its own, of one test: random cases are not vectors. */
static void random_suite(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    const struct random_cases *r = report->random;
    char text[FACT];

    if (!r || !r->asked)
        return;
    int wrong = r->failed && r->verdict.outcome == OUTCOME_FAIL;
    fprintf(f, "<testsuite name=\"qkvec random cases\" tests=\"1\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
            wrong, r->failed && !wrong, r->not_run || (!r->failed && !r->passed));
    fputs(" <properties>\n", f);
    property(f, "random_cases", report_fact(text, report, FACT_RANDOM));
    fputs(" </properties>\n", f);
    if (r->failed) {
        testcase(f, report, &r->verdict, stage);
    } else {
        struct verdict v = { .outcome = r->not_run || !r->passed ? OUTCOME_SKIP : OUTCOME_PASS };
        snprintf(v.vector, sizeof v.vector, "random/%llu_from_seed_%llu", (unsigned long long)r->asked, (unsigned long long)r->seed);
        snprintf(v.reason, sizeof v.reason, "%s", text);
        testcase(f, report, &v, stage);
    }
    fputs("</testsuite>\n", f);
}

void report_junit(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    char statement[STATEMENT], text[FACT], likely[LIKELY], again[AGAIN];
    struct tally all;
    size_t errors = 0, failures = 0, nothing = report_status(report) == NOT_JUDGED;

    report_tally(&all, report, NULL);
    for (size_t k = 0; k < report->count; k++)
        failures += report->verdicts[k].outcome == OUTCOME_FAIL;
    errors = all.failed + all.unjudged - failures + nothing;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"qkvec\"", f);
    fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n <properties>\n",
            report->count + nothing, failures, errors, all.skipped);
    property(f, "verdict", report_statement(statement, report));
    property(f, "kernel", report->kernel);
    property(f, "profile", report->profile->name);
    property(f, "program", qkvec_version);
    for (int k = 0; k < FACTS; k++)
        if (report_fact(text, report, k)[0])
            property(f, report_fact_names[k], text);
    if (report_likely(likely, report)[0])
        property(f, "likely mistake", likely);
    if (report_worst(report) && report_again(again, report, report_worst(report))[0])
        property(f, "again", again);
    if (report->corpus_version) {
        property(f, "corpus_version", report->corpus_version);
        property(f, "corpus_hash", report->corpus_hash);
    }
    fputs(" </properties>\n", f);
    for (size_t k = 0; k < report->count; k++)
        testcase(f, report, &report->verdicts[k], stage);
    if (nothing)    /* or a run of skips would count as a pass */
        fprintf(f, " <testcase classname=\"qkvec\" name=\"something was judged\">"
                "<error type=\"error\" message=\"%s\"/></testcase>\n", report_outcome(report));
    fputs("</testsuite>\n", f);
    random_suite(f, report, stage);
    fputs("</testsuites>\n", f);
}
