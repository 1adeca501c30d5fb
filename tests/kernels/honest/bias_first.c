/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "a sum starts at the bias"
#define BIAS_FIRST 1
#include "../kit.h"
