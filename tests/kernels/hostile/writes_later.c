/* SPDX-License-Identifier: MIT */
/*
 * A thread of it writes to the output after the kernel has returned.
 *
 * verdict: CRASH
 * says: SIGSEGV: used an array of an earlier case
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "hostile.h"

static int started;

static void *later(void *output)
{
    nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
    *(volatile float *)output = 1;
    return NULL;
}

int qkvec_kernel(const struct qkvec_call *a)
{
    int done = honest(a);
    pthread_t thread;
    if (now(a) && !pthread_create(&thread, NULL, later, a->output))
        pthread_detach(thread);
    else if (started)
        nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);    /* the crash comes while this case runs */
    started |= now(a);
    return done;
}
