/* SPDX-License-Identifier: MIT */
#ifndef QKVEC_RESULTS_H
#define QKVEC_RESULTS_H

#include "command.h"

/* Name on standard error every .npz file below dir that belongs to no vector:
 * a misspelt result would otherwise be judged as missing, or with
 * --allow-missing not at all. 0, or NOT_JUDGED after a complaint when dir
 * cannot be read. */
int results_name_strangers(const char *dir, const struct wanted *w);

#endif
