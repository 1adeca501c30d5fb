/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "online softmax, 64 keys at a time"
#define SOFTMAX ONLINE
#define BLOCK 64
#include "../kit.h"
