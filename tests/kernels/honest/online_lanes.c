/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "online softmax over 8 keys with eight accumulators"
#define DOT kit_lanes8
#define SOFTMAX ONLINE
#define BLOCK 8
#define SCALE ON_Q

#include "../short.h"
#include "../kit.h"
