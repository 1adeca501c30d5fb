/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "double, online softmax over 6 keys with exp2"
#define KIT_TYPE QKVEC_FLOAT64
#define KIT_DOUBLE 1
#define KIT_PROFILE "float64"
#define SOFTMAX ONLINE
#define BLOCK 6
#define BASE2 1
#define SCALE ON_Q
#include "../kit.h"
