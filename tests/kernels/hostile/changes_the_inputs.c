/* SPDX-License-Identifier: MIT */
/*
 * Opens the file of its inputs once more, to write to it; changes what it has
 * been given when it has computed the result.
 *
 * verdict: ERROR
 * says: the inputs are not those that were given
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    static const char zeros[4096];
    int done = honest(a), fd = now(a) ? open("/proc/self/fd/4", O_WRONLY) : -1;
    struct stat st;

    if (fd >= 0 && !fstat(fd, &st))
        for (off_t at = 0; at < st.st_size; at += (off_t)sizeof zeros)
            if (pwrite(fd, zeros, sizeof zeros, at) < 0)
                break;
    return done;
}
