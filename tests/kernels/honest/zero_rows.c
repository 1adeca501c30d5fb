/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "a query without a key gets zeros"
#define ZERO_ROWS 1
#include "../kit.h"
