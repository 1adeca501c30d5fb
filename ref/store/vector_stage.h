/* SPDX-License-Identifier: MIT */
/* Of vector.c alone: everything in the file that is not computed from. */
#ifndef QKVEC_VECTOR_STAGE_H
#define QKVEC_VECTOR_STAGE_H

#include "vector.h"

/* Golden stages, alternates and envelopes have the shapes that mha_alloc()
 * gives, prose can be printed, and there is no member that nobody knows. */
const char *vector_check_stages(struct vector *v);

/* The stage is part of a vector file. */
int vector_keeps(enum mha_stage stage);

#endif
