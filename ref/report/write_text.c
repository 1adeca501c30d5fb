/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "capability.h"
#include "quote.h"
#include "parts.h"

#define IN_FULL 10    /* failures told in full; the others are counted, or get a line each */
#define NAMED 3       /* mistakes told in full; of the others the names */

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

static const char *outcome_word(const struct verdict *v)
{
    static const char *const words[OUTCOMES] = { "PASS", "FAIL", "SKIP", "CRASH", "TIMEOUT", "ERROR", "UNJUDGED" };

    return words[v->outcome];
}

static void failure(FILE *f, const struct report *report, const struct verdict *v, const char *const stage[STAGES], int in_full)
{
    char text[ELEMENT > FINDING ? ELEMENT : FINDING], word[512], again[AGAIN], sentence[POLICY_SENTENCE];

    colored(f, report, red, outcome_word(v));
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
        snprintf(word, sizeof word, "%s: %s", v->policy->name, policy_sentence(sentence, v->policy, v->profile));
        item(f, v->is_policy ? "policy" : "nearest answer", word);
    }
    judged_stages(f, v, stage);
    item(f, "meets", v->meets && v->meets > v->profile ? v->meets->name : "");
    item(f, "finding", report_finding(text, v));
    item(f, "again", report_again(again, report, v));
}

static void failures(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    size_t failed = 0;

    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k];
        if (v->outcome == OUTCOME_PASS || v->outcome == OUTCOME_SKIP)
            continue;
        if (++failed > IN_FULL && !report->all)
            continue;
        if (failed <= IN_FULL + 1)
            fputs("\n", f);
        failure(f, report, v, stage, failed <= IN_FULL);
    }
    if (failed > IN_FULL && !report->all)
        fprintf(f, "\n%zu more vectors did not pass (--all lists them)\n", failed - IN_FULL);
    if (report->random && report->random->failed) {
        fputs("\n", f);
        failure(f, report, &report->random->verdict, stage, 1);
    }
}

/* Which mistake it looks like. Several names: these vectors cannot tell them apart. */
static void diagnosis(FILE *f, const struct report *report)
{
    const struct diagnosis *d = report->diagnosis;
    char text[160], error[32];

    if (!d || !d->failed)
        return;
    colored(f, report, bold, d->count ? "likely mistake" : "no listed mistake fits");
    if (d->count > 1)
        fprintf(f, " (one of these %zu: they fit alike)", d->count + d->more);
    fputs("\n", f);
    size_t shown = d->count < NAMED ? d->count : NAMED;
    for (size_t k = 0; k < shown; k++) {
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
    for (size_t k = shown; k < d->count; k++)
        fprintf(f, "%s%s", k == shown ? "  or " : ", ", d->mistake[k].name);
    if (d->count > shown)
        fputs("\n", f);
    if (d->more)
        fprintf(f, "  and %zu more\n", d->more);
}

/* Skipped vectors by their reason: a reason of one vector beside its name, else its count. */
static void skips(FILE *f, const struct report *report)
{
    int some = 0;

    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k], *u = report->verdicts;
        size_t alike = 0;
        if (v->outcome != OUTCOME_SKIP)
            continue;
        while (u != v && !(u->outcome == OUTCOME_SKIP && !strcmp(u->reason, v->reason)))
            u++;
        if (u != v)    /* counted with an earlier one */
            continue;
        for (size_t m = k; m < report->count; m++)
            alike += report->verdicts[m].outcome == OUTCOME_SKIP && !strcmp(report->verdicts[m].reason, v->reason);
        fputs(some++ ? "" : "\n", f);
        if (alike == 1) {
            colored(f, report, yellow, "skip");
            fputs(" ", f);
            quote_plain(f, v->vector);
        } else {
            fprintf(f, "%zu ", alike);
            colored(f, report, yellow, "skipped");
        }
        fputs(": ", f);
        quote_plain(f, v->reason);
        fputs("\n", f);
    }
}

static void note(FILE *f, const struct report *report, const struct verdict *v, const char *before, const char *text)
{
    colored(f, report, bold, "note");
    fputs(" ", f);
    quote_plain(f, v->vector);
    fprintf(f, ": %s", before);
    quote_plain(f, text);
    fputs("\n", f);
}

/* Passes that something is to be said about. */
static void notes(FILE *f, const struct report *report)
{
    char sentence[POLICY_SENTENCE];
    int some = 0;

    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k];
        int other = v->policy && v->policy != &policies[POLICY_PYTORCH];
        if (v->outcome != OUTCOME_PASS || !(other || v->reason[0]))
            continue;
        fputs(some++ ? "" : "\n", f);
        if (v->reason[0])
            note(f, report, v, "", v->reason);
        if (other)
            note(f, report, v, "one of the accepted answers: ", policy_sentence(sentence, v->policy, v->profile));
    }
}

/* ---- the certificate ---- */

static void certificate(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    static const enum mha_stage results[] = { OUTPUT, HEAD_OUTPUTS, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN };
    struct tally all;
    char text[FACT], worst[32], noise[32];
    int some = 0;

    report_tally(&all, report, NULL);
    fputs("\n", f);
    colored(f, report, bold, "certificate");
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
    for (int k = 0; k < FACTS; k++)
        item(f, report_fact_names[k], report_fact(text, report, k));
    snprintf(text, sizeof text, "%zu passed, %zu failed, %zu skipped", all.passed, all.failed, all.skipped);
    if (all.unjudged)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %zu could not be judged", all.unjudged);
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

/* Where people look: the last lines, twenty at most. */
static void conclusion(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    const struct verdict *worst = report_worst(report);
    char text[ELEMENT], statement[STATEMENT], again[AGAIN];
    int status = report_status(report);

    fputs("\n", f);
    colored(f, report, status ? red : green, report_statement(statement, report));
    fputs("\n", f);
    diagnosis(f, report);
    if (!worst)
        return;
    item(f, "worst vector", worst->vector);
    if (worst->worst.stage < STAGES)
        item(f, "worst element", report_element(text, worst, stage));
    else
        item(f, "reason", worst->reason);
    item(f, "again", report_again(again, report, worst));
}

void report_text_failures(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    failures(f, report, stage);
    if (report->diagnosis && report->diagnosis->failed)
        fputs("\n", f);
    diagnosis(f, report);
}

void report_text(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    table(f, report);
    capability_text(f, report);
    skips(f, report);
    notes(f, report);
    failures(f, report, stage);
    certificate(f, report, stage);
    conclusion(f, report, stage);
}
