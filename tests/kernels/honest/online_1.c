/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "online softmax, 1 key at a time"
#define SOFTMAX ONLINE
#define BLOCK 1
#include "../kit.h"
