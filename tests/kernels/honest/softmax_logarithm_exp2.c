/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "exp2(s - logarithm of the sum), to base 2"
#define NORMALISE LOGARITHM
#define BASE2 1
#define SCALE ON_Q
#include "../kit.h"
