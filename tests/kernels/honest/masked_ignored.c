/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "keys that no query of the head sees are not read"
#define IGNORE UNSEEN
#include "../kit.h"
