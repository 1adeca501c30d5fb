/* SPDX-License-Identifier: MIT */
/* What a kernel can do, feature by feature. */
#ifndef QKVEC_CAPABILITY_H
#define QKVEC_CAPABILITY_H

#include "../judge/feature.h"
#include "report.h"

/* Of the verdicts whose vectors have a feature. */
struct capability {
    size_t passed, failed, skipped;
    uint32_t policies;             /* bit k: a vector passed by policy k */
};
void capability_of(struct capability c[FEATURES], const struct report *report);

void capability_text(FILE *f, const struct report *report);    /* some lines, or none */
void capability_json(FILE *f, const struct report *report);    /* "capability":{...} */

#endif
