/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "exp2, and q takes the scale with the logarithm"
#define BASE2 1
#define SCALE ON_Q
#include "../kit.h"
