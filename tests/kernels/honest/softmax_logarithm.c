/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "exp(s - logarithm of the sum)"
#define NORMALISE LOGARITHM
#include "../kit.h"
