/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "online softmax as flash attention has it: exp2, 32 keys at a time, multiplied by the reciprocal"
#define SOFTMAX ONLINE
#define BLOCK 32
#define BASE2 1
#define SCALE AFTER
#define NORMALISE INVERTED
#include "../kit.h"
