/* SPDX-License-Identifier: MIT */
/* POSIX: ISO C can neither see what kind of file it opens nor wait for a disk. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind(mode_t mode)
{
    return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : S_ISCHR(mode) ? "a character device"
         : S_ISBLK(mode) ? "a block device" : S_ISSOCK(mode) ? "a socket" : "no regular file";
}

static const char *read_all(unsigned char **bytes, size_t *length, int fd, size_t limit, char error[SENTENCE])
{
    struct stat st;
    size_t size, at = 0;

    if (fstat(fd, &st))
        return say(error, SENTENCE, "cannot be examined: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return say(error, SENTENCE, "is %s, wanted a regular file", kind(st.st_mode));
    if ((uintmax_t)st.st_size > limit)
        return say(error, SENTENCE, "has %ju bytes, wanted at most %zu", (uintmax_t)st.st_size, limit);
    size = (size_t)st.st_size;
    *bytes = malloc(size ? size : 1);
    if (!*bytes)
        return say(error, SENTENCE, "not enough memory for its %zu bytes", size);
    while (at < size) {
        ssize_t got = read(fd, *bytes + at, size - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            say(error, SENTENCE, "cannot be read: %s", got ? strerror(errno) : "it became shorter meanwhile");
            free(*bytes);
            *bytes = NULL;
            return error;
        }
        at += (size_t)got;
    }
    *length = size;
    return NULL;
}

const char *file_read(unsigned char **bytes, size_t *length, const char *path, size_t limit, char error[SENTENCE])
{
    /* O_NONBLOCK: a pipe that nobody writes to opens at once, and is refused. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const char *wrong;

    *bytes = NULL;
    *length = 0;
    if (fd < 0)
        return say(error, SENTENCE, "cannot be opened: %s", strerror(errno));
    wrong = read_all(bytes, length, fd, limit, error);
    close(fd);
    return wrong;
}

_Static_assert(sizeof(sigset_t) <= sizeof ((struct file_out *)0)->signals, "room for the signals that wait");

static void block_signals(struct file_out *f)
{
    sigset_t deadly, before;

    sigemptyset(&deadly);
    sigaddset(&deadly, SIGINT);
    sigaddset(&deadly, SIGTERM);
    sigaddset(&deadly, SIGHUP);
    sigemptyset(&before);
    sigprocmask(SIG_BLOCK, &deadly, &before);
    memcpy(f->signals, &before, sizeof before);
}

static void forget(struct file_out *f)
{
    sigset_t signals;

    memcpy(&signals, f->signals, sizeof signals);
    free(f->path);
    free(f->passing);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    *f = (struct file_out){ 0 };
}

/* The name behind a symbolic link, so that the link survives; else the path. */
static char *target(const char *path)
{
    struct stat st;
    char *name = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;

    return name ? name : strdup(path);
}

const char *file_create(struct file_out *f, const char *path, char error[SENTENCE])
{
    struct stat st;
    int fd = -1, there = 0;

    *f = (struct file_out){ .path = target(path) };
    block_signals(f);
    there = f->path && stat(f->path, &st) == 0;
    if (there && !S_ISREG(st.st_mode)) {
        forget(f);
        return say(error, SENTENCE, "is %s, wanted a regular file or none", kind(st.st_mode));
    }
    f->passing = f->path ? malloc(strlen(f->path) + 64) : NULL;
    if (!f->passing) {
        forget(f);
        return say(error, SENTENCE, "not enough memory to write it");
    }
    const char *slash = strrchr(f->path, '/');
    size_t head = slash ? (size_t)(slash - f->path) + 1 : 0;
    memcpy(f->passing, f->path, head);
    for (int i = 0; fd < 0 && i < 1000; i++) {
        snprintf(f->passing + head, 64, ".qkvec-%ld-%d.tmp", (long)getpid(), i);
        fd = open(f->passing, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0 && there && fchmod(fd, st.st_mode & 07777))    /* who may read the file does not change with its contents */
        errno = 0;
    f->stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f->stream) {
        say(error, SENTENCE, "cannot be written: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
            unlink(f->passing);
        }
        forget(f);
        return error;
    }
    return NULL;
}

const char *file_close(struct file_out *f, int keep, char error[SENTENCE])
{
    int bad = 0, why = 0;

    if (keep) {
        int failed = ferror(f->stream);
        errno = 0;
        bad = fflush(f->stream) || failed || fsync(fileno(f->stream));
        if (failed && !errno) {    /* an earlier write failed, and nobody asked why: have one more fail */
            fputc(0, f->stream);
            fflush(f->stream);
        }
        why = errno;
    }
    if (fclose(f->stream) && keep && !bad) {
        bad = 1;
        why = errno;
    }
    if (keep && !bad && rename(f->passing, f->path)) {
        bad = 1;
        why = errno;
    }
    if (!keep || bad)
        unlink(f->passing);
    forget(f);
    return bad ? say(error, SENTENCE, "cannot be written: %s", why ? strerror(why) : "the disk took less than was given") : NULL;
}
