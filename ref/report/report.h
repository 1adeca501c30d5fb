/* SPDX-License-Identifier: MIT */
/*
 * Verdicts as people and machines read them: text, TAP, JUnit, JSON.
 */
#ifndef QKVEC_REPORT_H
#define QKVEC_REPORT_H

#include <stdio.h>

#include "../diagnose/diagnose.h"

enum report_format { REPORT_TEXT, REPORT_TAP, REPORT_JUNIT, REPORT_JSON, REPORT_FORMATS };
extern const char *const report_formats[REPORT_FORMATS];    /* "text" "tap" "junit" "json" */

struct report {
    const char *kernel;             /* who was judged */
    const struct profile *profile;
    const char *corpus_version, *corpus_hash;    /* NULL: no vector of the corpus was among them */
    size_t count;
    const struct verdict *verdicts;
    const struct diagnosis *diagnosis;           /* NULL: nothing failed that could be looked at */
    const char *rerun;              /* the command line that judges again, but for the vector's name */
    int color;                      /* text: with the terminal's colours */
};

void report_write(FILE *f, const struct report *report, enum report_format format);

/* The failures and their likely mistake alone, as text. */
void report_failure(FILE *f, const struct report *report);

/* The program's version, "0.1.0". */
extern const char *const qkvec_version;

/* Sums over verdicts: of all of them, or of one category. */
struct tally {
    size_t vectors, passed, failed, skipped;    /* failed: whatever is neither of the others */
    double worst;                   /* error in sigma; NaN where none was measured */
    const char *worst_vector;
    double noise;                   /* rms over the noise of the vectors; NaN where none was measured */
    double typical;                 /* the median of the same, which one bad vector does not move */
    size_t judged[STAGES];          /* in how many vectors a stage was compared */
    const struct profile *meets;    /* the tightest that all judged vectors meet; NULL where one meets none */
};

/* category NULL: all. */
void report_tally(struct tally *tally, const struct report *report, const char *category);

/* 0 conformant, 1 not conformant, 2 nothing was judged. */
int report_status(const struct report *report);

#endif
