/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "q and k take a square root of the scale each"
#define SCALE ROOTS
#include "../kit.h"
