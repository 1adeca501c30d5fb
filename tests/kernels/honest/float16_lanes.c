/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory, eight accumulators"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define DOT kit_lanes8
#define SCALE ON_Q
#define BIAS_FIRST 1

#include "../short.h"
#include "../kit.h"
