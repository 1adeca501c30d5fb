/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory; scores stored, and weights before they are divided"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define NORMALISE DIVIDED_OUTPUT
#define SCALE ROOTS
#include "../kit.h"
