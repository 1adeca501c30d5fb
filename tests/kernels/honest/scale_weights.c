/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "the weights and the bias of q take the scale"
#define SCALE IN_WEIGHTS
#include "../kit.h"
