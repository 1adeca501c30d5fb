/* SPDX-License-Identifier: MIT */
/*
 * Is this array the golden one, as far as rounding may move it?
 *
 * Everything that is judged has one form: stages by name, some of them missing.
 * Whether they come from a file, a kernel or the reference makes no difference.
 */
#ifndef QKVEC_COMPARE_H
#define QKVEC_COMPARE_H

#include "../envelope/envelope.h"

/* The second line: over this many different measured numbers or more, the rms
 * error in sigma stays below the profile's limit. Catches what hides below 8
 * everywhere. Not different are numbers that are nearly equal, relatively. */
#define NOISE_ELEMENTS 64
#define NEARLY 0x1p-8

/* One element, and how far it is off. */
struct element {
    enum mha_stage stage;        /* STAGES: there is none */
    int ndim;
    size_t index[4];
    double got, expected, sigma;
    double error_sigma;          /* |got - expected| / (sigma + floor / 8); infinite where NaN or infinity do not match */
};

/* One stage against one golden. */
struct comparison {
    int passed;
    size_t count, wrong;         /* elements in all, and beyond their bound */
    size_t measured;             /* elements with a sigma above 0, both numbers finite */
    double squares;              /* sum of error_sigma^2 over the measured */
    struct element worst;
    char reason[240];            /* "" when passed: a wrong shape, elements out of bounds, or noise */
};

/* Shapes first, then classes (NaN, +inf and -inf match only themselves), then
 * |got - expected| <= 8 sigma + floor per element; and over 64 measured
 * elements or more, rms(error_sigma) < the profile's noise. Two NaN match; -0 equals 0. */
void compare_stage(struct comparison *c, enum mha_stage stage, const struct array *got,
                   const struct array *expected, const struct array *sigma, const struct profile *p);

#endif
