/* SPDX-License-Identifier: MIT */
#define KIT_ABOUT "the plain way: natural order, bias last, scale after the product, two passes"
#include "../kit.h"
