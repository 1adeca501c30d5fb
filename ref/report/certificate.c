/* SPDX-License-Identifier: MIT */
/* What a certificate says, in the same words in every format. */
#include <stdio.h>
#include <string.h>

#include "parts.h"
#include "quote.h"

const char *const report_fact_names[FACTS] = { "scope", "asked for", "switches", "policies", "random cases" };

int report_status(const struct report *report)
{
    const struct random_cases *r = report->random;
    struct tally all;

    report_tally(&all, report, NULL);
    if (report->interrupted)
        return NOT_JUDGED;
    if (all.failed || (r && r->failed))
        return NOT_CONFORMANT;
    return all.unjudged || !all.finite ? NOT_JUDGED : CONFORMANT;
}

const char *report_outcome(const struct report *report)
{
    static const char *const words[] = { "conformant", "not conformant" };
    struct tally all;
    int status = report_status(report);

    if (status != NOT_JUDGED)
        return words[status];
    if (report->interrupted)
        return "interrupted, not a verdict";
    report_tally(&all, report, NULL);
    return all.unjudged ? "could not judge" : "nothing was judged";
}

const char *report_statement(char text[STATEMENT], const struct report *report)
{
    char but_for[BUT_FOR];
    struct tally all;

    report_tally(&all, report, NULL);
    size_t claimable = all.vectors - all.not_applicable;
    if (report_status(report) == CONFORMANT && 2 * all.passed < claimable)
        snprintf(text, STATEMENT, "conformant in what it claims: %zu of %zu vectors", all.passed, claimable);
    else if (report_status(report) == 1 && report_but_for(but_for, report)[0])
        snprintf(text, STATEMENT, "conformant but for %s", but_for);
    else
        snprintf(text, STATEMENT, "%s", report_outcome(report));
    return text;
}

/* "96 of 180 vectors (pattern core)" */
static void tell_asked(char text[FACT], const struct report *report)
{
    size_t asked = report->asked ? report->asked : report->count, files = 0;
    char category[CATEGORY];
    int used;

    for (size_t k = 0; k < report->count; k++)
        files += !strcmp(report_category(category, &report->verdicts[k]), "files");
    if (!report->corpus_version)
        used = snprintf(text, FACT, "%zu %s outside of the corpus", asked, asked == 1 ? "file" : "files");
    else if (files)
        used = snprintf(text, FACT, "%zu of %zu vectors and %zu outside of the corpus", asked - files, report->corpus_vectors, files);
    else
        used = snprintf(text, FACT, "%zu of %zu vectors", asked, report->corpus_vectors);
    if (report->pattern)
        used += snprintf(text + used, FACT - (size_t)used, " (pattern %.300s)", report->pattern);
    if (report->interrupted)
        snprintf(text + used, FACT - (size_t)used, ", of which %zu were judged before the interruption", report->count);
}

static void tell_random(char text[FACT], const struct random_cases *r)
{
    if (!r || !r->asked)
        snprintf(text, FACT, "no random case was run");
    else if (r->not_run)
        snprintf(text, FACT, "no random case was run: %s", r->not_run);
    else
        snprintf(text, FACT, "%llu of %llu from seed %llu: %llu passed, %d failed, %llu skipped", (unsigned long long)r->judged,
                 (unsigned long long)r->asked, (unsigned long long)r->seed, (unsigned long long)r->passed, r->failed,
                 (unsigned long long)r->skipped);
}

const char *report_fact(char text[FACT], const struct report *report, int fact)
{
    text[0] = 0;
    if (fact == FACT_SCOPE)
        snprintf(text, FACT, "%s", report->scope == SCOPE_CORE ? "core" : "layer");
    else if (fact == FACT_ASKED)
        tell_asked(text, report);
    else if (fact == FACT_SWITCHES && report->switches)
        snprintf(text, FACT, "%s", report->switches);
    else if (fact == FACT_POLICIES)
        report_policies(text, report);
    else if (fact == FACT_RANDOM)
        tell_random(text, report->random);
    return text;
}

static int has_failed(const struct verdict *v)
{
    return v->outcome != OUTCOME_PASS && v->outcome != OUTCOME_SKIP;
}

const struct verdict *report_worst(const struct report *report)
{
    const struct verdict *worst = NULL;

    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k];
        if (!has_failed(v))
            continue;
        int measured = v->worst.stage < STAGES, better = worst && worst->worst.stage < STAGES;
        if (!worst || (measured && (!better || v->worst.error_sigma > worst->worst.error_sigma)))
            worst = v;
    }
    return !worst && report->random && report->random->failed ? &report->random->verdict : worst;
}

const char *report_again(char text[AGAIN], const struct report *report, const struct verdict *verdict)
{
    char word[512];

    text[0] = 0;
    if (report->random && verdict == &report->random->verdict) {
        snprintf(text, AGAIN, "%s", report->random->rerun);
    } else if (report->rerun && report->rerun[0]) {
        quote_shell(word, sizeof word, verdict->vector);
        snprintf(text, AGAIN, "%s %s", report->rerun, word);
    }
    return text;
}

const char *report_likely(char text[LIKELY], const struct report *report)
{
    const struct diagnosis *d = report->diagnosis;

    text[0] = 0;
    if (!d || !d->failed)
        return text;
    if (!d->count) {
        snprintf(text, LIKELY, "no listed mistake fits");
        return text;
    }
    const struct mistake *m = &d->mistake[0];
    int used = snprintf(text, LIKELY, "%s: explains %zu of %zu failures: %s", m->name, m->explains, m->of, m->sentence);
    if (d->count + d->more > 1 && used < LIKELY)
        snprintf(text + used, LIKELY - (size_t)used, " (one of %zu that fit alike)", d->count + d->more);
    return text;
}
