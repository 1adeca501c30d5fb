/* SPDX-License-Identifier: MIT */
/* Compiled with REAL=float: what an honest float32 kernel computes, at every stage. */
#include "recipe/mha.h"
#include "faults/narrow.h"

const char *float_recipe(struct narrow *n, double *const stage[STAGES]);

/* narrow_forward() hands no context through. */
static double *const *sink;

static void record(void *t, const void *in)
{
    const struct array *a = t;

    narrow_recipe(t, in);
    for (int k = 0; k < STAGES; k++)
        for (size_t m = 0; a[k].v && m < a[k].size; m++)
            sink[k][m] = (double)a[k].v[m];
}

const char *float_recipe(struct narrow *n, double *const stage[STAGES])
{
    sink = stage;
    return narrow_forward(n, record);
}
