/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory; scores stored, and weights before they are divided"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define NORMALISE DIVIDED_OUTPUT
#define SCALE ROOTS
#include "../kit.h"
