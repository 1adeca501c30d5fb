/* SPDX-License-Identifier: MIT */
/* dladdr() is an extension of the C library, though everywhere alike. */
#define _GNU_SOURCE

#include "place.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX "/index.json"

/* The directory of file, then "/below", if vectors are there; or NULL. */
static char *beside(const char *file, const char *below)
{
    const char *slash = strrchr(file, '/');
    size_t head = slash ? (size_t)(slash - file) + 1 : 0, size = head + strlen(below) + sizeof INDEX;
    char *path = slash ? malloc(size) : NULL;
    struct stat st;

    if (!path)
        return NULL;
    snprintf(path, size, "%.*s%s" INDEX, (int)head, file, below);
    if (stat(path, &st)) {
        free(path);
        return NULL;
    }
    path[strlen(path) - strlen(INDEX)] = 0;
    char *plain = realpath(path, NULL);    /* for the eyes: without "../" */
    if (plain)
        free(path);
    return plain ? plain : path;
}

/* The file that this code was loaded from: a shared library, or the program,
 * whose name is then whatever its caller called it. */
static char *found_by_library(void)
{
    char *(*const function)(void) = place_vectors;
    const void *here;
    Dl_info info;
    char *path;

    memcpy(&here, &function, sizeof here);
    if (!dladdr(here, &info) || !info.dli_fname)
        return NULL;
    path = beside(info.dli_fname, "vectors");
    return path ? path : beside(info.dli_fname, QKVEC_VECTORS_FROM_LIBRARY);
}

static char *found_by_program(void)
{
    char file[4096];
    ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    char *path;

    if (length <= 0)
        return NULL;
    file[length] = 0;
    path = beside(file, "vectors");
    return path ? path : beside(file, QKVEC_VECTORS_FROM_PROGRAM);
}

char *place_vectors(void)
{
    const char *dir = getenv("QKVEC_VECTORS");
    char *path;

    if (dir && *dir)
        return strdup(dir);
    if ((path = found_by_library()) || (path = found_by_program()))
        return path;
    if (access(QKVEC_INSTALLED_VECTORS INDEX, R_OK) && !access(QKVEC_PACKAGED_VECTORS INDEX, R_OK))
        return strdup(QKVEC_PACKAGED_VECTORS);    /* a program that is linked with the static library of a package */
    return strdup(QKVEC_INSTALLED_VECTORS);
}
