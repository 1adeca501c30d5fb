/* SPDX-License-Identifier: MIT */
/*
 * Verdicts as people and machines read them: text, TAP, JUnit, JSON.
 */
#ifndef QKVEC_REPORT_H
#define QKVEC_REPORT_H

#include <stdio.h>

#include "../diagnose/diagnose.h"
#include "quote.h"
#include "status.h"

enum report_format { REPORT_TEXT, REPORT_TAP, REPORT_JUNIT, REPORT_JSON, REPORT_FORMATS };
extern const char *const report_formats[REPORT_FORMATS];    /* "text" "tap" "junit" "json" */

struct report {
    const char *kernel;             /* who was judged */
    enum scope scope;               /* what of it */
    const struct profile *profile;
    const char *corpus_version, *corpus_hash;    /* NULL: no vector of the corpus was among them */
    size_t corpus_vectors;          /* vectors of that version of the corpus; 0 where corpus_version is NULL */
    const char *pattern;            /* which of them were asked for; NULL: all of them */
    const char *switches;           /* options that weaken the verdict, "--once"; "" where there is none */
    int interrupted;                /* Ctrl-C came before the last of asked vectors was judged */
    size_t asked;
    const struct random_cases *random;    /* judged after the vectors; NULL: none could be asked for */
    size_t count;
    const struct verdict *verdicts;
    size_t combination;             /* of policies, to which all verdicts were kept */
    const struct diagnosis *diagnosis;           /* NULL: nothing failed that could be looked at */
    const char *rerun;              /* the command line that judges again, but for the vector's name */
    int all;                        /* text: a line for each failure, however many */
    int color;                      /* text: with the terminal's colours */
};

/* Random cases that were judged after the vectors, until the first failure. */
struct random_cases {
    uint64_t seed, asked;           /* asked 0: none */
    uint64_t allowed;               /* combinations of policies (policy.h) that pass */
    uint64_t judged, passed, skipped;
    const char *not_run;            /* why none was run though some were asked for; or NULL */
    int failed;                     /* then: */
    uint64_t number;                /* of the case that failed; it is judged again with --first number --count 1 */
    struct verdict verdict;
    char rerun[COMMAND_LINE];               /* the command line that does so */
};

void report_write(FILE *f, const struct report *report, enum report_format format);

/* The failures and their likely mistake alone, as text. */
void report_failure(FILE *f, const struct report *report);

/* The program's version, "0.1.0". */
extern const char *const qkvec_version;

/* Sums over verdicts: of all of them, or of one category. */
struct tally {
    size_t vectors, passed, failed, skipped;    /* failed: whatever is none of the others */
    size_t unjudged;                /* the judge itself could not do its work */
    size_t not_applicable;          /* of the skipped: by the profile, not by the kernel */
    size_t finite;                  /* passed, with at least one finite number compared */
    double worst;                   /* error in sigma; NaN where none was measured */
    const char *worst_vector;
    double noise;                   /* rms over the noise of the vectors; NaN where none was measured */
    double typical;                 /* the median of the same, which one bad vector does not move */
    size_t judged[STAGES];          /* in how many vectors a stage was compared */
    const struct profile *meets;    /* the tightest that all judged vectors meet; NULL where one meets none */
};

/* category NULL: all. */
void report_tally(struct tally *tally, const struct report *report, const char *category);

/* 0 conformant, 1 not conformant, 2 could not judge: interrupted, the judge failed,
 * or nothing was judged (no finite number was compared). */
int report_status(const struct report *report);

/* "conformant", "conformant in what it claims: 5 of 180 vectors", "not conformant",
 * "nothing was judged", "could not judge", "interrupted, not a verdict" */
#define STATEMENT 600
const char *report_statement(char text[STATEMENT], const struct report *report);

#endif
