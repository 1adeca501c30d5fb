/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "exp2 with the logarithm folded into the scale"
#define BASE2 1
#include "../kit.h"
