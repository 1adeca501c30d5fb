/* SPDX-License-Identifier: MIT */
/* Rounding errors of stored numbers and of sums: the pieces of the envelope. */
#ifndef QKVEC_ENVELOPE_SUM_H
#define QKVEC_ENVELOPE_SUM_H

#include <math.h>

#include "array.h"
#include "profile.h"

/* A third of the squared roundoffs: of the accumulator, of storage, of operands.
 * tiny: a number below it may become 0. */
struct units { double U, T, O, floor, tiny; };

struct units units_of(const struct profile *p);

/* What is lost where a number below tiny is taken as 0: its size, else 0. */
static inline double flushed(const struct units *u, double x)
{
    double size = fabs(x);
    return size < u->tiny ? size : 0;
}

/* The variance of a number that is rounded to 16 bits on its way to memory. */
double store(const struct units *u, double y);

/* What a stored number loses: rounded y - y; nothing, except in the 16-bit profiles. */
double residue(const struct profile *p, double y);

/* What a sum of terms tells of its rounding: P are its partial sums. */
struct sums { double y, terms2, partial2, partial, size; };

static inline void sums_add(struct sums *s, double term)
{
    s->y += term;
    s->terms2 += term * term;
    s->partial2 += s->y * s->y;
    s->partial += fabs(s->y);
    s->size += fabs(term);
}

/* Many sums side by side, each quantity in a row of its own: that is what makes
 * sums_row_add() fast. */
struct sums_row { double *y, *terms2, *partial2, *partial, *size; };

struct sums_row sums_row(double *room, size_t n);    /* room for 5 n numbers; all sums begin at 0 */
void sums_row_add(struct sums_row *s, size_t n, double a, const double *restrict w);    /* one more term for each: a w */
struct sums sums_row_at(const struct sums_row *s, size_t e);

/* The variance of a sum of count rounded products, to which b is added (0: nothing). */
double summed(const struct units *u, const struct sums *s, double count, double b);

#endif
