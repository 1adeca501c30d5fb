/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory, but scores stay in float32"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define STORE_SCORE(x) (x)
#define SCALE ON_Q
#include "../kit.h"
