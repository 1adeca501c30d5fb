/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "float16 in memory; weights stored before they are divided"
#define KIT_TYPE QKVEC_FLOAT16
#define KIT_PROFILE "float16"
#define STORE kit_float16
#define STORE_SCORE(x) (x)
#define NORMALISE DIVIDED_OUTPUT
#include "../kit.h"
