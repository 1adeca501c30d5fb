/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory, sums in float32; everything stored, scores and weights too"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#include "../kit.h"
