/* SPDX-License-Identifier: MIT */
/*
 * A child of it shortens the file of the inputs again and again, while we write
 * the next ones. On Linux it cannot.
 *
 * verdict: PASS
 * says: 
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

static int forked;

int qkvec_kernel(const struct qkvec_call *a)
{
    if (forked)
        usleep(100000);    /* time for the child */
    int fd = now(a) ? open("/proc/self/fd/4", O_RDWR) : -1;

    forked |= fd >= 0;
    if (fd >= 0 && fork() == 0)
        for (;;)
            if (ftruncate(fd, 0))
                usleep(1);
    return honest(a);
}
