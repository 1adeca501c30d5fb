/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory, online softmax over 3 keys, scaled q, masks one by one, zero rows"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define STORE_SCORE(x) (x)
#define SOFTMAX ONLINE
#define BLOCK 3
#define SCALE ON_Q
#define MASK ONE_BY_ONE
#define ZERO_ROWS 1
#include "../kit.h"
