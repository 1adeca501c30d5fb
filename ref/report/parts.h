/* SPDX-License-Identifier: MIT */
/* What the formats of a report share. */
#ifndef QKVEC_REPORT_PARTS_H
#define QKVEC_REPORT_PARTS_H

#include "report.h"

typedef void report_writer(FILE *f, const struct report *report, const char *const stage[STAGES]);
report_writer report_text, report_text_failures, report_tap, report_junit, report_json;

/* "core" of "core/answer"; "files" of what lies outside the corpus. */
#define CATEGORY 64
const char *report_category(char category[CATEGORY], const struct verdict *verdict);

/* report_statement() without what weakens it: one of a few fixed phrases. */
const char *report_outcome(const struct report *report);

/* What the certificate says beside counts, errors and versions, in the same words in every format. */
enum { FACT_SCOPE, FACT_ASKED, FACT_SWITCHES, FACT_POLICIES, FACT_RANDOM, FACTS };
#define FACT 512
extern const char *const report_fact_names[FACTS];    /* "scope" "asked for" "switches" "policies" "random cases" */
const char *report_fact(char text[FACT], const struct report *report, int fact);    /* "" where there is nothing to say */

/* The failed vector that is furthest off, the failed random case, or NULL. */
const struct verdict *report_worst(const struct report *report);

/* The command line that judges this one again; "" where the report has none. */
#define AGAIN 9000
const char *report_again(char text[AGAIN], const struct report *report, const struct verdict *verdict);

/* "scale_none: explains 117 of 128 failures: ..."; "no listed mistake fits"; "" where nothing was looked at. */
#define LIKELY 512
const char *report_likely(char text[LIKELY], const struct report *report);
/* The policies of the run, those that some vector shows, as "zero_rows, masked_ignored"; "pytorch" if there is none. */
const char *report_policies(char text[FACT], const struct report *report);

/* "rows without an open key: mean of the values, ...": what the only failures are,
 * if all of them are by policies that --allow would accept; else "". */
#define BUT_FOR 512
const char *report_but_for(char text[BUT_FOR], const struct report *report);

/* The same policies (bit k: policies[k]); 0 if there is another failure. */
uint32_t report_refused(const struct report *report);

/* "output[0,2,3]: got 0.25, expected 0.5, sigma 1e-08, off by 2.5e+07 sigma"; "" where there is no element. */
#define ELEMENT 256
const char *report_element(char text[ELEMENT], const struct verdict *verdict, const char *const stage[STAGES]);

/* "You asked for float32; these results are tf32."; "" where there is nothing to say. */
#define FINDING 128
const char *report_finding(char text[FINDING], const struct verdict *verdict);

#endif
