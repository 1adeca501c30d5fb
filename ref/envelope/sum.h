/* SPDX-License-Identifier: MIT */
/* Rounding errors of stored numbers and of sums: the pieces of the envelope. */
#ifndef QKVEC_ENVELOPE_SUM_H
#define QKVEC_ENVELOPE_SUM_H

#include <math.h>

#include "../recipe/array.h"
#include "profile.h"

/* A third of the squared roundoffs: of the accumulator, of storage, of operands.
 * normal: below it the 16-bit numbers are no longer closer to each other.
 * tiny: a number below it may become 0. near: relative. same_score: absolute,
 * scores that are closer have weights that are rounded alike. */
struct units { double U, T, O, normal, tiny, near, same_score; };

struct units units_of(const struct profile *p);

/* fmax() without its care for NaN, which costs a call. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A NaN or infinity here belongs to a key that no finite result has seen. */
static inline double finite_or_0(double x)
{
    return isfinite(x) ? x : 0;
}

/* What is lost where a number below tiny is taken as 0: its size, else 0. */
static inline double flushed(const struct units *u, double x)
{
    double size = fabs(x);
    return size < u->tiny ? size : 0;
}

/* The variance of a number that is rounded to 16 bits on its way to memory. */
static inline double store(const struct units *u, double y)
{
    return u->T * larger(y * y, u->normal * u->normal);
}

/* What a stored number loses: rounded y - y; nothing, except in the 16-bit profiles. */
double stored_residue(const struct profile *p, double y);

static inline double residue(const struct profile *p, double y)
{
    return p->smallest > 0 ? stored_residue(p, y) : 0;
}

/* Numbers that are so nearly equal are rounded alike; of one sign, or of any. */
static inline int nearly(const struct units *u, double a, double b)
{
    return fabs(a - b) <= u->near * larger(fabs(a), fabs(b));
}

/* ---- a row times a matrix: a (C), w (C,n), of which one row is stride numbers behind the other ---- */

struct matrix { const double *w; size_t C, n, stride; };

/* y (n) += a @ w, a @ w² and a @ (w - middle)², element by element; a (C), middle (n). */
void row_add(double *y, const double *a, const struct matrix *w);
void row_add_squares(double *y, const double *a, const struct matrix *w);
void row_add_spread(double *y, const double *a, const struct matrix *w, const double *middle);

/* lost += what a @ w loses where an operand becomes 0 before it is multiplied. */
void row_add_lost(double *lost, const struct units *u, const double *a, const struct matrix *w);

/* ---- the same for a few columns, and how their sums round ---- */

/* So many columns side by side, zeros behind the last one: loops over them have
 * a length that the compiler knows, and stay in registers. */
enum { STRIP = 8 };

/* Most interleaved accumulators that a sum is taken to have, and how many terms pass between
 * two looks at their partial sums: an eighth of the sum, in whole rounds of LANES. */
enum { LANES = 16, LANES_LEAST = 32 };    /* LANES_LEAST: shorter sums are not looked at */
size_t lanes_step(size_t count);

/* Columns first to first + STRIP - 1 of a matrix, of which width are not zeros. */
struct strip { const double *w; size_t stride, C, width; };

/* Copied to room (C,STRIP), unless they serve too few rows for that to pay. */
struct strip strip_take(double *room, const struct matrix *w, size_t first, size_t rows);

/* y = a @ strip, and the variance V of y + b, a sum of rounded products of
 * rounded operands, any of which may be so small that it becomes 0. */
void strip_sum(double V[STRIP], double y[STRIP], const struct units *u, const double *a, const struct strip *s, const double b[STRIP], int biased);

#endif
