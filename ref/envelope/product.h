/* SPDX-License-Identifier: MIT */
/*
 * What y = x @ w + b loses, for x (rows,C), w (C,n), b (n) or NULL, all of them
 * exact. Each function adds variances to V (rows,n), of which one row is wide
 * numbers behind the other. strip: room for (C,STRIP).
 */
#ifndef QKVEC_ENVELOPE_PRODUCT_H
#define QKVEC_ENVELOPE_PRODUCT_H

#include "sum.h"

/* Columns first to first + n - 1 of a weight. */
struct matrix columns(const struct array *w_t, size_t first, size_t n);

/* The sums of x @ w alone. */
void sums_lose(double *V, size_t wide, const struct units *u, const double *x, size_t rows, const struct matrix *w, double *strip);

/* All of a projection, but for operands_lose(). stored: 16 bits keep the result. */
void project_loses(double *V, size_t wide, const struct units *u, const double *x, size_t rows,
                   const struct matrix *w, const double *bias, int stored, double *strip);

/* Operands that become 0 before they are multiplied: all their errors lean the
 * same way. flushed_w: there is such a weight. lost: room for (n). */
void operands_lose(double *V, size_t wide, const struct units *u, const double *x, size_t rows, const struct matrix *w, int flushed_w, double *lost);

/* One of the numbers is so small that it may become 0, and is not 0 already. */
int any_flushed(const struct units *u, const struct array *w_t);

#endif
