/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "values are mixed before the weights are divided"
#define NORMALISE DIVIDED_OUTPUT
#include "../kit.h"
