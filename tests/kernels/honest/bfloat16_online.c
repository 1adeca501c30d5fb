/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory, online softmax over 16 keys, weights rounded before they are divided"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define STORE_SCORE(x) (x)
#define SOFTMAX ONLINE
#define BLOCK 16
#define BASE2 1
#define NORMALISE INVERTED
#include "../kit.h"
