/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "weights rounded to float16 before the values are mixed"
#define KIT_MEETS "float16"
#define STORE_WEIGHT kit_float16
#include "../kit.h"
