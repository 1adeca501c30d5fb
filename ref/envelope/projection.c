/* SPDX-License-Identifier: MIT */
/* One projection of the layer, x W^T + b, whole: docs/tolerance.md, "projections". */
#include "walk.h"

void projection(struct array *V, struct scratch *w, const struct units *u, const struct array *x, const struct array *w_t,
                const double *b, int flushed_w)
{
    size_t E = w_t->shape[1], rows = x->shape[0] * x->shape[1];
    struct matrix m = columns(w_t, 0, E);

    project_loses(V->v, E, u, x->v, rows, &m, b, 1, w->strip);
    operands_lose(V->v, E, u, x->v, rows, &m, flushed_w, w->row);
}
