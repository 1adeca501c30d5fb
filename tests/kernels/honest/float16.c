/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory, sums in float32; everything stored, scores and weights too"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#include "../kit.h"
