/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "a query without a key gets zeros, online"
#define ZERO_ROWS 1
#define SOFTMAX ONLINE
#define BLOCK 4
#define MASK ONE_BY_ONE
#include "../kit.h"
