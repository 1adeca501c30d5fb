/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "divided by the square root of D"
#define SCALE DIVIDED
#include "../kit.h"
