/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "q takes the scale"
#define SCALE ON_Q
#include "../kit.h"
