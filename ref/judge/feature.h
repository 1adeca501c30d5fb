/* SPDX-License-Identifier: MIT */
/* What a vector asks of a kernel beyond plain attention. */
#ifndef QKVEC_FEATURE_H
#define QKVEC_FEATURE_H

#include <stdint.h>

#include "../corpus/vector.h"

enum feature {
    FEATURE_BOOL_2D, FEATURE_FLOAT_2D, FEATURE_BOOL_3D, FEATURE_FLOAT_3D, FEATURE_BOOL_PADDING, FEATURE_FLOAT_PADDING,
    FEATURE_CAUSAL, FEATURE_BIAS_KV, FEATURE_ZERO_ATTN, FEATURE_KDIM_VDIM, FEATURE_NO_BIAS, FEATURE_EMPTY, FEATURE_FULLY_MASKED,
    FEATURES
};

extern const char *const feature_names[FEATURES];      /* for a machine: "attn_mask_bool_2d" */
extern const char *const feature_phrases[FEATURES];    /* for people: "bool attn_mask (L,S)" */

/* Bit k: feature k. */
uint32_t features_of(const struct vector *v);

#endif
