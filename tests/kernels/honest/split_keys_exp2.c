/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "keys in parts of 64, merged by their logarithms to base 2"
#define SOFTMAX SPLIT
#define BLOCK 64
#define BASE2 1
#define SCALE ON_Q
#include "../kit.h"
