/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory, eight accumulators"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define DOT kit_lanes8
#define SCALE ON_Q
#define BIAS_FIRST 1

#include "../short.h"
#include "../kit.h"
