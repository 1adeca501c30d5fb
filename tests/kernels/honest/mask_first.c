/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "the product is added to the mask"
#define MASK MERGED_FIRST
#define SCALE ON_Q
#include "../kit.h"
