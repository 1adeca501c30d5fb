/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "online softmax, 16 keys at a time"
#define SOFTMAX ONLINE
#define BLOCK 16
#define SCALE ON_Q
#include "../kit.h"
