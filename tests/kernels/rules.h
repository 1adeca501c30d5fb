/* SPDX-License-Identifier: MIT */
/* Rules by which attention is judged elsewhere, next to ours. */
#ifndef RULES_H
#define RULES_H

#include "judge/expected.h"

enum { RULES = 7 };    /* ours comes last */

/* As a table says it. */
extern const char *const rule_names[RULES];

/* Does a rule accept one array? NaN matches NaN, and infinity itself, in all of them. */
int rule_accepts(int rule, enum mha_stage stage, const struct array *got, const struct array *expected,
                 const struct array *sigma, const struct profile *p);

/* What a kernel returns (output, attn_weights, attn_weights_mean; those that are
 * given) is accepted as one of the legitimate answers. */
int rule_accepts_all(int rule, const struct array got[STAGES], const struct expected *expected);

/* The largest error in sigma by the answer that is nearest. */
double rule_error(const struct array got[STAGES], const struct expected *expected);

#endif
