/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "both masks as given, one after the other"
#define MASK ONE_BY_ONE
#include "../kit.h"
