/* SPDX-License-Identifier: MIT */
/* A named array of numbers in C order: the only data type of the recipe. */
#ifndef QKVEC_ARRAY_H
#define QKVEC_ARRAY_H

#include <stddef.h>

/* The reference computes in double. The same text compiled with
 * -DREAL=float shows mistakes that only a short exponent range reveals. */
#ifndef REAL
#define REAL double
#endif
typedef REAL real;

/* In bytes. Numbers start with one: where half of the loads straddle two,
 * projecting takes a fifth longer. */
enum { CACHE_LINE = 64 };

struct array {
    const char *name;    /* as in the vector file: "q_proj", "scores", ... */
    int ndim;            /* 2 to 4, or 1 for a bias */
    size_t shape[4];     /* unused dimensions are 1 */
    size_t size;         /* the product of the shape */
    real *v;             /* size numbers; NULL where the stage does not exist (no bias) */
};

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* Element [n,h,i,j] of an array of four dimensions (N,H,I,J): ((n * H + h) * I + i) * J + j. */
#define AT(x, n, h, i, j) (x)->v[(((n) * (x)->shape[1] + (h)) * (x)->shape[2] + (i)) * (x)->shape[3] + (j)]

#endif
