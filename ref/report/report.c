/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

const char *const qkvec_version = QKVEC_VERSION;

const char *report_category(char category[CATEGORY], const struct verdict *verdict)
{
    size_t length = strcspn(verdict->vector, "/"), end = strlen(verdict->vector);
    const char *last = strrchr(verdict->vector, '/');

    /* A path has no slash, a leading one, several, or its suffix. */
    if (!last || length == 0 || verdict->vector + length != last || length >= CATEGORY
        || (end > 4 && !strcmp(verdict->vector + end - 4, ".npz")))
        return strcpy(category, "files");
    memcpy(category, verdict->vector, length);
    category[length] = 0;
    return category;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void report_tally(struct tally *tally, const struct report *report, const char *category)
{
    size_t noisy = 0, judged = 0;
    double squares = 0, *noise = malloc((report->count + 1) * sizeof *noise);
    int none = 0;

    *tally = (struct tally){ .worst = NAN, .noise = NAN, .typical = NAN };
    for (size_t k = 0; k < report->count; k++) {
        const struct verdict *v = &report->verdicts[k];
        char own[CATEGORY];
        if (category && strcmp(category, report_category(own, v)) != 0)
            continue;
        tally->vectors++;
        tally->passed += v->outcome == OUTCOME_PASS;
        tally->skipped += v->outcome == OUTCOME_SKIP;
        tally->unjudged += v->outcome == OUTCOME_UNJUDGED;
        tally->failed += v->outcome != OUTCOME_PASS && v->outcome != OUTCOME_SKIP && v->outcome != OUTCOME_UNJUDGED;
        tally->not_applicable += v->outcome == OUTCOME_SKIP && v->not_applicable;
        tally->finite += v->outcome == OUTCOME_PASS && v->finite;
        for (int s = 0; s < STAGES; s++)
            tally->judged[s] += v->judged >> s & 1;
        if (v->worst.stage != STAGES && !(v->worst.error_sigma <= tally->worst)) {
            tally->worst = v->worst.error_sigma;
            tally->worst_vector = v->vector;
        }
        if (isfinite(v->noise)) {
            squares += v->noise * v->noise;
            if (noise)
                noise[noisy] = v->noise;
            noisy++;
        }
        if (v->outcome == OUTCOME_SKIP || v->outcome == OUTCOME_UNJUDGED)
            continue;
        judged++;
        if (!v->meets || (v->outcome != OUTCOME_PASS && v->meets <= v->profile))    /* right numbers, but not all */
            none = 1;
        else if (!tally->meets || v->meets > tally->meets)    /* profiles[] goes from the tightest to the loosest */
            tally->meets = v->meets;
    }
    if (noisy)
        tally->noise = sqrt(squares / (double)noisy);
    if (noisy && noise) {
        qsort(noise, noisy, sizeof *noise, by_size);
        tally->typical = noise[noisy / 2];
    }
    free(noise);
    if (none || !judged)
        tally->meets = NULL;
}

const char *report_element(char text[ELEMENT], const struct verdict *verdict, const char *const stage[STAGES])
{
    const struct element *e = &verdict->worst;
    int digits = verdict->profile == &profiles[PROFILE_FLOAT64] ? 17 : 9;
    size_t used;

    text[0] = 0;
    if (e->stage >= STAGES)
        return text;
    used = (size_t)snprintf(text, ELEMENT, "%s[", stage[e->stage]);
    for (int k = 0; k < e->ndim; k++)
        used += (size_t)snprintf(text + used, ELEMENT - used, k ? ",%zu" : "%zu", e->index[k]);
    used += (size_t)snprintf(text + used, ELEMENT - used, "]: got %.*g, expected %.*g", digits, e->got, digits, e->expected);
    if (isfinite(e->error_sigma))
        snprintf(text + used, ELEMENT - used, ", sigma %.2g, off by %.3g sigma", e->sigma, e->error_sigma);
    return text;
}

const char *report_finding(char text[FINDING], const struct verdict *verdict)
{
    text[0] = 0;
    if (verdict->outcome == OUTCOME_FAIL && verdict->meets && verdict->meets > verdict->profile)
        snprintf(text, FINDING, "You asked for %s; these results are %s.", verdict->profile->name, verdict->meets->name);
    return text;
}
