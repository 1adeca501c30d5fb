/* SPDX-License-Identifier: MIT */
/* The axes of a stage: their names, and the orders that they could stand in. */
#ifndef QKVEC_AXES_H
#define QKVEC_AXES_H

#include "../recipe/mha.h"

/* "N", "L", "S'", ... of axis k of a stage. */
const char *axis_name(enum mha_stage stage, int k);

/* There are axis_orders(n) = n! orders of n <= 4 axes; number which says in
 * order[k] which axis stands at place k. Number 0 is the order as it is. */
int axis_orders(int n);
void axis_order(int order[4], int which, int n);

/* "(N, L, E)" of a stage, in that order. */
const char *axis_text(char text[48], enum mha_stage stage, int which, int n);

#endif
