/* SPDX-License-Identifier: MIT */
/*
 * Shortens the memory that the outputs are in, but behind its own: later cases would pay for it.
 *
 * verdict: ERROR
 * says: changed the size of its output memory
 */
#define _XOPEN_SOURCE 700
#include <sys/stat.h>
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    struct stat st;

    if (now(a) && (fstat(5, &st) || ftruncate(5, st.st_size - 1)))
        return QKVEC_SKIP;
    return done;
}
