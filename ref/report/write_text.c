/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "capability.h"
#include "quote.h"
#include "parts.h"

#define IN_FULL 10    /* failures told in full; the others get a line each */

static const char *const red = "31", *const green = "32", *const yellow = "33", *const bold = "1";

static void colored(FILE *f, const struct report *report, const char *color, const char *text)
{
    if (report->color)
        fprintf(f, "\033[%sm%s\033[0m", color, text);
    else
        fputs(text, f);
}

/* "3.1 sigma" to the right of a column; "-" where nothing was measured. */
static const char *in_sigma(char text[32], double x)
{
    if (isnan(x))
        return strcpy(text, "-");
    snprintf(text, 32, x < 100 ? "%.2f sigma" : "%.2e sigma", x);
    return text;
}

/* ---- the table ---- */

static void row(FILE *f, const struct report *report, const char *name, const char *category, int width)
{
    struct tally t;
    char worst[32], noise[32], failed[32];

    report_tally(&t, report, category);
    fprintf(f, "%-*s %8zu %6zu ", width, name, t.vectors, t.passed);
    snprintf(failed, sizeof failed, "%6zu", t.failed);
    if (t.failed)
        colored(f, report, red, failed);
    else
        fputs(failed, f);
    fprintf(f, " %6zu %16s %14s\n", t.skipped, in_sigma(worst, t.worst), in_sigma(noise, t.noise));
}

static void table(FILE *f, const struct report *report)
{
    char category[CATEGORY], earlier[CATEGORY];
    int width = 8;

    for (size_t k = 0; k < report->count; k++) {
        int length = (int)strlen(report_category(category, &report->verdicts[k]));
        width = length > width ? length : width;
    }
    fprintf(f, "%-*s %8s %6s %6s %6s %16s %14s\n", width, "category", "vectors", "pass", "fail", "skip", "worst error", "noise");
    for (size_t k = 0; k < report->count; k++) {
        size_t first = 0;    /* a category is listed where it is first met */
        report_category(category, &report->verdicts[k]);
        while (strcmp(report_category(earlier, &report->verdicts[first]), category) != 0)
            first++;
        if (first == k)
            row(f, report, category, category, width);
    }
    row(f, report, "all", NULL, width);
}

/* ---- what did not pass ---- */

static void item(FILE *f, const char *name, const char *text)
{
    if (!text[0])
        return;
    fprintf(f, "  %-18s ", name);
    quote_plain(f, text);
    fputs("\n", f);
}

/* Which stages were compared, and which of the weights were not. */
static void judged_stages(FILE *f, const struct verdict *v, const char *const stage[STAGES])
{
    int some = 0, count = 0, first = STAGES, last = 0;

    for (int k = 0; k < STAGES; k++)
        if (v->judged >> k & 1) {
            first = first == STAGES ? k : first;
            last = k;
            count++;
        }
    if (!count)
        return;
    fprintf(f, "  %-18s ", "judged");
    if (count > 6)
        fprintf(f, "%d stages from %s to %s", count, stage[first], stage[last]);
    else
        for (int k = first; k <= last; k++)
            if (v->judged >> k & 1)
                fprintf(f, "%s%s", some++ ? ", " : "", stage[k]);
    if (!(v->judged >> ATTN_WEIGHTS & 1) && !(v->judged >> ATTN_WEIGHTS_MEAN & 1))
        fputs("; weights not judged", f);
    fputs("\n", f);
}

static void failure(FILE *f, const struct report *report, const struct verdict *v, const char *const stage[STAGES], int in_full)
{
    char text[ELEMENT > FINDING ? ELEMENT : FINDING], word[512];

    colored(f, report, red, v->outcome == OUTCOME_FAIL ? "FAIL" : v->outcome == OUTCOME_CRASH ? "CRASH"
                          : v->outcome == OUTCOME_TIMEOUT ? "TIMEOUT" : "ERROR");
    fputs(" ", f);
    quote_plain(f, v->vector);
    fputs(": ", f);
    quote_plain(f, v->reason);
    fputs("\n", f);
    if (!in_full)
        return;
    item(f, "first wrong stage", v->first_wrong < STAGES ? stage[v->first_wrong] : "");
    item(f, "worst element", report_element(text, v, stage));
    if (v->policy && v->policy != &policies[POLICY_PYTORCH]) {
        snprintf(word, sizeof word, "%s: %s", v->policy->name, v->policy->sentence);
        item(f, "nearest answer", word);
    }
    judged_stages(f, v, stage);
    item(f, "meets", v->meets && v->meets > v->profile ? v->meets->name : "");
    item(f, "finding", report_finding(text, v));
    if (!report->rerun[0])
        return;
    fprintf(f, "  %-18s %s ", "again", report->rerun);
    quote_shell(word, sizeof word, v->vector);
    quote_plain(f, word);
    fputs("\n", f);
}

static void failures(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    size_t failed = 0;

    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k];
        if (v->outcome == OUTCOME_PASS || v->outcome == OUTCOME_SKIP)
            continue;
        if (failed <= IN_FULL)
            fputs("\n", f);
        failure(f, report, v, stage, ++failed <= IN_FULL);
    }
}

/* Which mistake it looks like. Several names: these vectors cannot tell them apart. */
static void diagnosis(FILE *f, const struct report *report)
{
    const struct diagnosis *d = report->diagnosis;
    char text[160], error[32];

    if (!d || !d->failed)
        return;
    fputs("\n", f);
    colored(f, report, bold, d->count ? "likely mistake" : "no listed mistake fits");
    if (d->count > 1)
        fprintf(f, " (one of these %zu: they fit alike)", d->count + d->more);
    fputs("\n", f);
    for (size_t k = 0; k < d->count; k++) {
        const struct mistake *m = &d->mistake[k];
        int at = snprintf(text, sizeof text, "explains %zu of %zu failures", m->explains, m->of);
        if (!isnan(m->error_sigma))
            at += snprintf(text + at, sizeof text - (size_t)at, ", within %s", in_sigma(error, m->error_sigma));
        if (m->precision && !isnan(m->error_sigma))
            snprintf(text + at, sizeof text - (size_t)at, ", in the precision of %s", m->precision->name);
        item(f, m->name, text);
        fprintf(f, "    %s\n", m->sentence);
        if (m->seen[0])
            fprintf(f, "    seen in %s\n", m->seen);
    }
    if (d->more)
        fprintf(f, "  and %zu more\n", d->more);
}

static void note(FILE *f, const struct report *report, const struct verdict *v, const char *before, const char *text)
{
    int skipped = v->outcome == OUTCOME_SKIP;

    colored(f, report, skipped ? yellow : bold, skipped ? "skip" : "note");
    fputs(" ", f);
    quote_plain(f, v->vector);
    fprintf(f, ": %s", before);
    quote_plain(f, text);
    fputs("\n", f);
}

/* Skipped vectors with their reason, and passes that something is to be said about. */
static void notes(FILE *f, const struct report *report)
{
    int some = 0;

    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k];
        int passed = v->outcome == OUTCOME_PASS, other = passed && v->policy && v->policy != &policies[POLICY_PYTORCH];
        if (!other && !(v->reason[0] && (passed || v->outcome == OUTCOME_SKIP)))
            continue;
        if (!some++)
            fputs("\n", f);
        if (v->reason[0])
            note(f, report, v, "", v->reason);
        if (other)
            note(f, report, v, "one of the accepted answers: ", v->policy->sentence);
    }
}

/* ---- the certificate ---- */

static void certificate(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    static const enum mha_stage results[] = { OUTPUT, HEAD_OUTPUTS, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN };
    struct tally all;
    char text[512], worst[32], noise[32];
    int status = report_status(report), some = 0;

    report_tally(&all, report, NULL);
    fputs("\n", f);
    colored(f, report, status ? red : green, report_outcome(report));
    fputs("\n", f);
    item(f, "kernel", report->kernel);
    item(f, "profile", report->profile->name);
    if (all.meets)
        item(f, "meets", all.meets->name);
    item(f, "program", qkvec_version);
    if (report->corpus_version) {
        snprintf(text, sizeof text, "%s, sha256 %s", report->corpus_version, report->corpus_hash);
        item(f, "corpus", text);
    }
    snprintf(text, sizeof text, "%zu passed, %zu failed, %zu skipped", all.passed, all.failed, all.skipped);
    item(f, "vectors", text);
    if (all.worst_vector) {
        snprintf(text, sizeof text, "%s (%.200s)", in_sigma(worst, all.worst), all.worst_vector);
        item(f, "worst error", text);
    }
    item(f, "typical error", in_sigma(noise, all.typical));
    fprintf(f, "  %-18s ", "judged");
    for (size_t k = 0; k < sizeof results / sizeof *results; k++) {
        size_t count = all.judged[results[k]];
        if (!count && (results[k] == HEAD_OUTPUTS || (results[k] == OUTPUT && all.judged[HEAD_OUTPUTS])))
            continue;    /* the one that matters is output, in a core it is head_outputs */
        fprintf(f, "%s%s ", some++ ? ", " : "", stage[results[k]]);
        if (count)
            fprintf(f, "in %zu", count);
        else
            fputs("not judged", f);
    }
    fputs("\n", f);
}

void report_text_failures(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    failures(f, report, stage);
    diagnosis(f, report);
}

void report_text(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    table(f, report);
    report_text_failures(f, report, stage);
    notes(f, report);
    capability_text(f, report);
    certificate(f, report, stage);
}
