/* SPDX-License-Identifier: MIT */
/*
 * Jumps out of its own crash and claims to be done.
 *
 * verdict: FAIL
 * says: not written
 */
#include <setjmp.h>
#include <signal.h>

#include "hostile.h"

static jmp_buf home;

static void jump(int s)
{
    (void)s;
    longjmp(home, 1);
}

int qkvec_kernel(const struct qkvec_call *a)
{
    if (!now(a))
        return honest(a);
    signal(SIGSEGV, jump);
    if (!setjmp(home))
        *(volatile int *)(uintptr_t)16 = 1;
    *a->written = QKVEC_OUTPUT;
    return QKVEC_DONE;
}
