/* SPDX-License-Identifier: MIT */
/* Whole files: read at once, and written so that nobody sees half of one. */
#ifndef QKVEC_FILE_H
#define QKVEC_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "text.h"

/* All bytes of a regular file of at most limit bytes, to free. Anything else
 * under that name (a directory, a pipe, a device) is refused without waiting
 * for it. NULL, or what went wrong. */
const char *file_read(unsigned char **bytes, size_t *length, const char *path, size_t limit, char error[SENTENCE]);

/* A file being written under a passing name in the directory of its own. Until
 * it is closed SIGINT, SIGTERM and SIGHUP wait, so that none leaves it behind. */
struct file_out {
    FILE *stream;
    char *path, *passing;
    unsigned char signals[128];    /* a sigset_t, which ISO C does not have: those that waited before */
};

const char *file_create(struct file_out *f, const char *path, char error[SENTENCE]);

/* Give the file its name, or with keep 0 remove it. NULL, or what went wrong;
 * then, too, nothing is left of it. */
const char *file_close(struct file_out *f, int keep, char error[SENTENCE]);

#endif
