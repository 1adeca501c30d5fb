/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory, but neither scores nor weights: one fused pass"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define STORE_SCORE(x) (x)
#define STORE_WEIGHT(x) (x)
#define NORMALISE DIVIDED_OUTPUT
#include "../kit.h"
