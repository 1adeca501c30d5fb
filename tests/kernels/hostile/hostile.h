/* SPDX-License-Identifier: MIT */
/*
 * An honest kernel, qualified for lying: it tells the truth but for the causal
 * vectors. The comment at the top of each kernel says what it must get for them:
 *
 *     verdict   CRASH, FAIL, TIMEOUT, ERROR, or PASS where it is honest, NONE where nothing can be judged
 *     says      a piece of the sentence (an extended regular expression)
 *     options   more of them for "qkvec check"
 *     vectors   other ones than core/answer causal/square core/self
 *
 * NOW: another time to lie than the causal vectors.
 */
#ifndef KERNEL_H
#define KERNEL_H

#define qkvec_kernel honest
#include "../examples/plain.c"
#undef qkvec_kernel

#ifndef NOW
#define NOW ((a->flags & QKVEC_CAUSAL) != 0)
#endif

/* Is it time to lie? */
static inline int now(const struct qkvec_call *a)
{
    return NOW;
}

static inline size_t outputs(const struct qkvec_call *a)
{
    return (size_t)(a->N * a->L * a->E);
}

QKVEC_EXPORT int qkvec_kernel(const struct qkvec_call *a);

#endif
