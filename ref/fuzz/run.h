/* SPDX-License-Identifier: MIT */
#ifndef QKVEC_FUZZ_RUN_H
#define QKVEC_FUZZ_RUN_H

#include "fuzz.h"

/* Judge the cases of fuzz until one fails; fills in its counts, and number and
 * verdict of a failure. Returns NULL, or fuzz->error. */
const char *run_cases(struct fuzz *fuzz);

#endif
