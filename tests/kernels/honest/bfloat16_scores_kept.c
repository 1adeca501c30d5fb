/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory, but scores stay in float32"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define STORE_SCORE(x) (x)
#define SCALE ON_Q
#include "../kit.h"
