/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory, online softmax over 16 keys, weights rounded before they are divided"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define STORE_SCORE(x) (x)
#define SOFTMAX ONLINE
#define BLOCK 16
#define BASE2 1
#define NORMALISE INVERTED
#include "../kit.h"
