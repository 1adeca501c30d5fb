/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "double, the plain way"
#define KIT_TYPE QKVEC_FLOAT64
#define KIT_DOUBLE 1
#define KIT_PROFILE "float64"
#include "../kit.h"
