/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory, but neither scores nor weights: one fused pass"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define STORE_SCORE(x) (x)
#define STORE_WEIGHT(x) (x)
#define NORMALISE DIVIDED_OUTPUT
#include "../kit.h"
