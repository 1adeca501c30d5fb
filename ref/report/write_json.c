/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "capability.h"
#include "quote.h"
#include "parts.h"

static void number(FILE *f, const char *before, double x)
{
    if (isnan(x))
        fprintf(f, "%s\"nan\"", before);
    else if (isinf(x))
        fprintf(f, "%s\"%sinf\"", before, x < 0 ? "-" : "");
    else
        fprintf(f, "%s%.17g", before, x);
}

static void text(FILE *f, const char *before, const char *value)
{
    fputs(before, f);
    if (value)
        quote_json(f, value);
    else
        fputs("null", f);
}

static void certificate(FILE *f, const struct report *report)
{
    char statement[STATEMENT], fact[FACT];
    struct tally all;
    char sentence[BUT_FOR];

    report_tally(&all, report, NULL);
    text(f, "\"certificate\":{\"verdict\":", report_outcome(report));
    text(f, ",\"profile\":", report->profile->name);
    text(f, ",\"kernel\":", report->kernel);
    text(f, ",\"program\":", qkvec_version);
    text(f, ",\"corpus_version\":", report->corpus_version);
    text(f, ",\"corpus_hash\":", report->corpus_hash);
    fprintf(f, ",\"vectors\":%zu,\"passed\":%zu,\"failed\":%zu,\"skipped\":%zu",
            all.vectors, all.passed, all.failed, all.skipped);
    text(f, ",\"meets\":", all.meets ? all.meets->name : NULL);
    number(f, ",\"worst_error_sigma\":", all.worst);
    number(f, ",\"noise\":", all.noise);
    number(f, ",\"typical_error_sigma\":", all.typical);
    text(f, ",\"statement\":", report_statement(statement, report));
    fprintf(f, ",\"unjudged\":%zu,\"corpus_vectors\":%zu", all.unjudged, report->corpus_vectors);
    text(f, ",\"pattern\":", report->pattern);
    text(f, ",\"interrupted\":", report->interrupted ? "interrupted, not a verdict" : NULL);
    text(f, ",\"scope\":", report_fact(fact, report, FACT_SCOPE));
    text(f, ",\"asked\":", report_fact(fact, report, FACT_ASKED));
    text(f, ",\"switches\":", report_fact(fact, report, FACT_SWITCHES));
    text(f, ",\"random_cases\":", report_fact(fact, report, FACT_RANDOM));
    text(f, ",\"policies\":", report_fact(fact, report, FACT_POLICIES));
    text(f, ",\"but_for\":", report_but_for(sentence, report)[0] ? sentence : NULL);
    fputs("}", f);
}

static void result(FILE *f, const struct verdict *v, const char *const stage[STAGES])
{
    const struct element *e = &v->worst;
    int some = 0;

    text(f, "{\"vector\":", v->vector);
    text(f, ",\"verdict\":", outcome_names[v->outcome]);
    text(f, ",\"profile\":", v->profile->name);
    text(f, ",\"meets\":", v->meets ? v->meets->name : NULL);
    text(f, ",\"policy\":", v->policy ? v->policy->name : NULL);
    fprintf(f, ",\"is_policy\":%s", v->is_policy ? "true" : "false");
    number(f, ",\"noise\":", v->noise);
    if (e->stage < STAGES) {
        text(f, ",\"worst\":{\"stage\":", stage[e->stage]);
        fputs(",\"index\":[", f);
        for (int k = 0; k < e->ndim; k++)
            fprintf(f, k ? ",%zu" : "%zu", e->index[k]);
        number(f, "],\"got\":", e->got);
        number(f, ",\"expected\":", e->expected);
        number(f, ",\"sigma\":", e->sigma);
        number(f, ",\"error_sigma\":", e->error_sigma);
        fputs("}", f);
    } else {
        fputs(",\"worst\":null", f);
    }
    text(f, ",\"first_wrong_stage\":", v->first_wrong < STAGES ? stage[v->first_wrong] : NULL);
    fputs(",\"judged\":[", f);
    for (int k = 0; k < STAGES; k++)
        if (v->judged >> k & 1)
            text(f, some++ ? "," : "", stage[k]);
    text(f, "],\"reason\":", v->reason);
    fputs("}", f);
}

/* Random cases, apart from the vectors; null where none was asked for. */
static void random_cases(FILE *f, const struct random_cases *r, const char *const stage[STAGES])
{
    fputs("\"random\":", f);
    if (!r || !r->asked) {
        fputs("null", f);
        return;
    }
    fprintf(f, "{\"seed\":%llu,\"asked\":%llu,\"judged\":%llu,\"passed\":%llu,\"failed\":%d,\"skipped\":%llu",
            (unsigned long long)r->seed, (unsigned long long)r->asked, (unsigned long long)r->judged,
            (unsigned long long)r->passed, r->failed, (unsigned long long)r->skipped);
    text(f, ",\"not_run\":", r->not_run);
    fputs(",\"failure\":", f);
    if (r->failed)
        result(f, &r->verdict, stage);
    else
        fputs("null", f);
    text(f, ",\"again\":", r->failed ? r->rerun : NULL);
    fputs("}", f);
}

static void mistake(FILE *f, const struct mistake *m)
{
    text(f, "{\"fault\":", m->name);
    text(f, ",\"sentence\":", m->sentence);
    fprintf(f, ",\"explains\":%zu,\"of\":%zu", m->explains, m->of);
    number(f, ",\"error_sigma\":", m->error_sigma);
    text(f, ",\"precision\":", m->precision ? m->precision->name : NULL);
    fputs("}", f);
}

void report_json(FILE *f, const struct report *report, const char *const stage[STAGES])
{
    fputs("{\"format\":1,\n", f);
    certificate(f, report);
    fputs(",\n", f);
    capability_json(f, report);
    fputs(",\n\"diagnosis\":[", f);
    for (size_t k = 0; report->diagnosis && k < report->diagnosis->count; k++) {
        fputs(k ? ",\n" : "\n", f);
        mistake(f, &report->diagnosis->mistake[k]);
    }
    fputs("],\n", f);
    random_cases(f, report->random, stage);
    fputs(",\n\"results\":[", f);
    for (size_t k = 0; k < report->count; k++) {
        fputs(k ? ",\n" : "\n", f);
        result(f, &report->verdicts[k], stage);
    }
    fputs("\n]}\n", f);
}
