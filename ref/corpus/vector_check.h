/* SPDX-License-Identifier: MIT */
/* What a file must be before it is a vector; of vector.c and its parts alone. */
#ifndef QKVEC_VECTOR_CHECK_H
#define QKVEC_VECTOR_CHECK_H

#include "vector.h"

#define WRONG(v, ...) say((v)->error, sizeof (v)->error, __VA_ARGS__)

/* Configuration, parameters and arguments: afterwards v->in has its sizes, and
 * every number to compute with has its place in the file. */
const char *vector_check_inputs(struct vector *v);

/* Golden stages, alternates and envelopes have the shapes that mha_alloc()
 * gives, prose can be printed, and there is no member that nobody knows. */
const char *vector_check_stages(struct vector *v);

#endif
