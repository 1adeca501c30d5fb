/* SPDX-License-Identifier: MIT */
#include "envelope_sum.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

struct units units_of(const struct profile *p)
{
    return (struct units){ p->u * p->u / 3, p->s * p->s / 3, p->o * p->o / 3, p->floor,
                           fmin(p->floor, profiles[PROFILE_FLOAT32].floor) };    /* 16-bit types accumulate in float32 */
}

double store(const struct units *u, double y)
{
    return u->T > 0 ? u->T * fmax(y * y, u->floor * u->floor) : 0;
}

double residue(const struct profile *p, double x)
{
    double r = p->smallest > 0 ? profile_round(p, x) - x : 0;
    return isfinite(r) ? r : 0;
}

struct sums_row sums_row(double *room, size_t n)
{
    FOR(m, 5 * n) room[m] = 0;
    return (struct sums_row){ room, room + n, room + 2 * n, room + 3 * n, room + 4 * n };
}

void sums_row_add(struct sums_row *s, size_t n, double a, const double *restrict w)
{
    double *restrict y = s->y, *restrict terms2 = s->terms2, *restrict partial2 = s->partial2;
    double *restrict partial = s->partial, *restrict size = s->size;

    FOR(e, n) {
        double term = a * w[e], sum = y[e] + term;
        y[e] = sum;
        terms2[e] += term * term;
        partial2[e] += sum * sum;
        partial[e] += fabs(sum);
        size[e] += fabs(term);
    }
}

struct sums sums_row_at(const struct sums_row *s, size_t e)
{
    return (struct sums){ s->y[e], s->terms2[e], s->partial2[e], s->partial[e], s->size[e] };
}

/* The squared length of the rounding errors of a sum of count terms and an
 * addend b, in squared unit roundoffs: the worst of four ways to go about it. */
static double rounding(const struct sums *s, double count, double b)
{
    double y = s->y, yb = y + b;
    double any = count * fmax(fmax(s->terms2, y * y), fmax(b * b, yb * yb));     /* one rounding a term; the bias first or last */
    double natural = s->partial2;                                             /* long sums that cancel */
    double lean = s->partial + count * fabs(b);                               /* errors that all lean one way: */
    lean = lean * lean / 16;                                                  /*   truncating adders, equal terms */
    double order = count * s->size * s->size / 48;                            /* any other order of summation */
    return fmax(fmax(any, natural), fmax(lean, order));
}

/* Terms that are rounded products of rounded operands, then summed. Any of them
 * may be so small that it becomes 0. */
double summed(const struct units *u, const struct sums *s, double count, double b)
{
    double lost = s->size > 0 ? count * u->tiny : 0;

    return 2 * u->O * fmax(s->terms2, s->y * s->y) + u->U * rounding(s, count, b) + lost * lost;
}
