/* SPDX-License-Identifier: MIT */
/*
 * How far may rounding move an element?
 *
 * The same walk as mha.c, with a variance next to each number: how far an
 * honest kernel of a given precision strays from the exact result, as a
 * standard deviation ("sigma") per element. docs/tolerance.md derives it.
 */
#ifndef QKVEC_ENVELOPE_H
#define QKVEC_ENVELOPE_H

#include "../recipe/mha.h"
#include "profile.h"

/* An element passes when |got - golden| <= ENVELOPE_SIGMAS * sigma + floor. */
#define ENVELOPE_SIGMAS 8.0

/* Where a kernel begins: at the arguments, or at q_heads, k_heads and v_heads,
 * which are then exact. */
enum scope { SCOPE_LAYER, SCOPE_CORE };

/* Fill sigma[k] for every stage of t that rounds, which the recipe has computed
 * from in; 0 where the stage is not finite. Stages that are only laid out anew
 * are exact: their sigma is not touched, and has to be 0 already, as mha_alloc
 * makes it. NULL, or a sentence when memory is out. */
const char *envelope(struct array sigma[STAGES], const struct array t[STAGES],
                     const struct mha_in *in, const struct profile *p, enum scope scope);

/* NULL where the profile can decide these stages, or the reason why not: a
 * number leaves the type's range, or rounding leaves the softmax undetermined. */
const char *envelope_applies(const struct array sigma[STAGES], const struct array t[STAGES],
                             const struct profile *p);

#endif
