/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "weights are multiplied by the reciprocal of their sum"
#define NORMALISE INVERTED
#include "../kit.h"
