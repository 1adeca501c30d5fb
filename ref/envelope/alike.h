/* SPDX-License-Identifier: MIT */
/*
 * Which numbers, rows or scores are alike, and what that does to the variance
 * of their sum: equal numbers are rounded alike, so their errors add up before
 * they are squared.
 */
#ifndef QKVEC_ENVELOPE_ALIKE_H
#define QKVEC_ENVELOPE_ALIKE_H

#include "sum.h"

/* Groups of two or more things that are alike, out of things 0 to n - 1. Group g
 * has the members member[start[g]] to member[start[g + 1] - 1], in ascending
 * order. leader[m] is the first member of the group of m, or m itself. */
struct groups { size_t count, *start, *member, *leader; };

/* Room for the search among n things: (n) each, but slot (alike_slots(n)). */
struct alike_room { size_t *chain, *slot; double *key; };

/* Number of slots of the table by which many things are searched. */
size_t alike_slots(size_t n);

/* The n channels x that are nearly equal, up to sign. No groups if grouping them
 * could not double a sigma: if the squared sizes of all groups, those of one
 * member included, have a sum below 4 n. */
void alike_channels(struct groups *g, struct alike_room *room, const struct units *u, const double *x, size_t n);

/* The rows of x (rows,n) that differ by no more than one sigma in any channel. V: variances of x (rows,n). */
void alike_rows(struct groups *g, struct alike_room *room, const double *x, const double *V, size_t rows, size_t n);

/* The n scores s of one query whose weights are rounded alike: scores that fall into the same
 * interval of width 1.7 max(u, s, 2^-40). -infinity has no weight, and is in no group. */
void alike_scores(struct groups *g, struct alike_room *room, const struct units *u, const double *s, size_t n);

/* excess (n): by how much the variance of a @ w grows if the rows of a group err alike, with
 * sigma |a[j] (w[j][e] - middle[e])| each: sum over groups of (sum)² less the sum of squares;
 * 0 at least. a (rows), w (rows,n), middle (n) or NULL for zeros. room: (2,n). */
void alike_excess(double *excess, double *room, const struct groups *g, const double *a, const struct matrix *w, const double *middle);

#endif
