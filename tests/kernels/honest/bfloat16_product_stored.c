/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "bfloat16 in memory, the product stored before its bias is added, as Flax and Keras compute a dense layer"
#define KIT_TYPE QKVEC_BFLOAT16
#define KIT_PROFILE "bfloat16"
#define STORE kit_bfloat16
#define STORE_PRODUCT kit_bfloat16
#define SCALE ON_Q
#include "../kit.h"
