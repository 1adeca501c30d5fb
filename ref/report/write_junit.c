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

static void testcase(FILE *f, const struct verdict *v, const char *const stage[STAGES])
{
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
    fprintf(f, "</%s>\n </testcase>\n", tag);
}

void report_junit(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    struct tally all;
    size_t errors = 0, failures = 0, nothing = report_status(report) == 2;

    report_tally(&all, report, NULL);
    for (size_t k = 0; k < report->count; k++)
        failures += report->verdicts[k].outcome == OUTCOME_FAIL;
    errors = all.failed - failures + nothing;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"qkvec\"", f);
    fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n <properties>\n",
            report->count + nothing, failures, errors, all.skipped);
    property(f, "verdict", report_outcome(report));
    property(f, "kernel", report->kernel);
    property(f, "profile", report->profile->name);
    property(f, "program", qkvec_version);
    if (report->corpus_version) {
        property(f, "corpus_version", report->corpus_version);
        property(f, "corpus_hash", report->corpus_hash);
    }
    fputs(" </properties>\n", f);
    for (size_t k = 0; k < report->count; k++)
        testcase(f, &report->verdicts[k], stage);
    if (nothing)    /* or a run of skips would count as a pass */
        fputs(" <testcase classname=\"qkvec\" name=\"something was judged\">"
              "<error type=\"error\" message=\"nothing was judged\"/></testcase>\n", f);
    fputs("</testsuite>\n</testsuites>\n", f);
}
