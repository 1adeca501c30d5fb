/* SPDX-License-Identifier: MIT */
/* Random cases after the vectors of "qkvec check". */
#ifndef QKVEC_COMMAND_RANDOM_H
#define QKVEC_COMMAND_RANDOM_H

#include "../report/report.h"
#include "plug.h"

#define RANDOM_SEED 1    /* fixed, so that two certificates speak of the same cases */

/* How many cases "check" judges: text is the value of --random or NULL; patterns
 * says whether vectors were named. Returns 0, or NOT_JUDGED after an error message. */
int random_count(uint64_t *count, const struct plug *plug, const char *text, int patterns);

/* Judge random->asked cases until the first failure, with the plug's open
 * adapters. Returns NULL, or an error message of static or error's text. */
const char *random_judge(struct random_cases *random, const struct plug *plug, const struct profile *p, char error[600]);

#endif
