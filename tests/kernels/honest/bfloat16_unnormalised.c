/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory; weights stored before they are divided"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define STORE_SCORE(x) (x)
#define NORMALISE DIVIDED_OUTPUT
#include "../kit.h"
