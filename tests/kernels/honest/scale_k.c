/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "k takes the scale"
#define SCALE ON_K
#include "../kit.h"
