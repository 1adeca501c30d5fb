/* SPDX-License-Identifier: MIT */
#include "grow.h"

#include <stdint.h>
#include <stdlib.h>

void *grow(void *array, size_t *room, size_t count, size_t item)
{
    size_t more = *room ? 2 * *room : 16;

    if (count < *room)
        return array;
    if (more > SIZE_MAX / 2 / item)
        return NULL;
    void *moved = realloc(array, more * item);
    if (moved)
        *room = more;
    return moved;
}
