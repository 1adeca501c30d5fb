/* SPDX-License-Identifier: MIT */
#include "plan.h"

size_t plan_kind(uint64_t *state, const double *share, size_t size, size_t count)
{
    double x = draw_uniform(state);

    for (size_t k = 0; k < count; k++) {
        double of_all = *(const double *)(const void *)((const char *)share + k * size);
        if (x < of_all)
            return k;
        x -= of_all;
    }
    return 0;    /* the shares add up to less than 1 by rounding */
}
