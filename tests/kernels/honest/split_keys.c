/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "keys in parts of 5, each an attention of its own, merged by their logarithms"
#define SOFTMAX SPLIT
#define BLOCK 5
#include "../kit.h"
