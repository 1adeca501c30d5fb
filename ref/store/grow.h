/* SPDX-License-Identifier: MIT */
/* Arrays that grow while a file is read. */
#ifndef QKVEC_GROW_H
#define QKVEC_GROW_H

#include <stddef.h>

/* Return array, which holds count items of item bytes, with room for one more:
 * reallocated to twice its *room if it is full. NULL if there is no memory; then
 * array and *room are unchanged. */
void *grow(void *array, size_t *room, size_t count, size_t item);

#endif
