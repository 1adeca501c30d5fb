/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "no query reads a key that is hidden from it"
#define IGNORE HIDDEN
#define ZERO_ROWS 1
#include "../kit.h"
