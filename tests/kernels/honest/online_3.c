/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "online softmax, 3 keys at a time"
#define SOFTMAX ONLINE
#define BLOCK 3
#include "../kit.h"
