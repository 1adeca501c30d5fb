/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include "program.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

static int stopped(const void *host)
{
    return host_stopped(host);
}

static void drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type, (void)where;
    remove(path);
    return 0;
}

/* The supervisor kills the command and removes its files; the command's status. */
int program_end(struct program *p)
{
    drop(&p->requests);
    drop(&p->life);
    drop(&p->answers);
    int status;
    process_wait(p->pid, &status);
    if (!access(p->dir, F_OK))    /* a supervisor that was killed has removed nothing */
        nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    p->pid = 0;
    p->held = 0;
    return status;
}

/* In $TMPDIR; else in memory, where there is such a place. */
static const char *make_dir(struct program *p)
{
    const char *given = getenv("TMPDIR"), *root = access("/dev/shm", W_OK | X_OK) ? "/tmp" : "/dev/shm";
    char *absolute = given && *given && !strpbrk(given, "\t\n") ? realpath(given, NULL) : NULL;
    int length = snprintf(p->dir, sizeof p->dir, "%s/qkvec-XXXXXX", absolute ? absolute : root);

    free(absolute);
    if (length >= (int)sizeof p->dir)
        return "the path of the temporary directory is too long";
    return mkdtemp(p->dir) ? NULL : "no temporary directory can be made";
}

const char *program_start(struct program *p, char error[600])
{
    char *argv[] = { (char *)"qkvec", (char *)"host-supervisor", p->dir, (char *)p->command, NULL };
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, life[2] = { -1, -1 }, failed = 0;
    const char *wrong = make_dir(p);

    if (wrong || (failed = process_pipe(in)) || (failed = process_pipe(out)) || (failed = process_pipe(life))) {
        for (int k = 0; k < 2; k++) {
            drop(&in[k]);
            drop(&out[k]);
            drop(&life[k]);
        }
        if (!wrong)
            rmdir(p->dir);
        snprintf(error, 600, "the command cannot be started: %s", wrong ? wrong : strerror(failed));
        return error;
    }
    int err = process_lift(dup(STDERR_FILENO)), fd[4] = { in[0], out[1], err, life[0] };
    failed = process_start(&p->pid, p->host->self, argv, fd, 4, 1);
    drop(&in[0]);
    drop(&out[1]);
    drop(&err);
    drop(&life[0]);
    p->requests = in[1];
    p->answers = out[0];
    p->life = life[1];
    process_unblock(p->requests);
    process_unblock(p->answers);
    if (failed) {
        p->pid = 0;
        drop(&p->requests);
        drop(&p->answers);
        drop(&p->life);
        rmdir(p->dir);
        snprintf(error, 600, "the command cannot be started: %s", strerror(failed));
        return error;
    }
    return NULL;
}

/* ---- lines ---- */

enum heard program_hear(struct program *p, double deadline)
{
    for (;;) {
        char *newline = memchr(p->line, '\n', p->held);
        if (newline) {
            p->used = (size_t)(newline - p->line) + 1;
            while (newline > p->line && (newline[-1] == '\r' || newline[-1] == ' '))
                newline--;
            *newline = 0;
            return HEARD_LINE;
        }
        if (p->held == sizeof p->line)
            return HEARD_TOO_LONG;
        enum awaited awaited = process_await(p->answers, p->pid, NULL, deadline, stopped, p->host);
        if (awaited != AWAITED)
            return awaited == AWAITED_STOP ? HEARD_STOP : awaited == AWAITED_FAILED ? HEARD_FAILED : awaited == AWAITED_END ? HEARD_END : HEARD_NOTHING;
        ssize_t got = read(p->answers, p->line + p->held, sizeof p->line - p->held);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return HEARD_FAILED;
        if (got == 0)
            return HEARD_END;
        p->held += (size_t)got;
    }
}

enum program_state program_state(struct program *p)
{
    struct pollfd poller = { .fd = p->answers, .events = POLLIN };

    if (!p->pid)
        return PROGRAM_GONE;
    if (p->held)
        return PROGRAM_TALKS;
    if (poll(&poller, 1, 0) != 1)
        return PROGRAM_WAITS;
    ssize_t got = read(p->answers, p->line, sizeof p->line);
    if (got > 0) {
        p->held = (size_t)got;
        return PROGRAM_TALKS;
    }
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return PROGRAM_WAITS;
    program_end(p);
    return PROGRAM_GONE;
}

enum program_state program_next(struct program *p)
{
    if (!p->pid)
        return PROGRAM_GONE;
    p->held -= p->used;
    memmove(p->line, p->line + p->used, p->held);
    p->used = 0;
    return program_state(p);
}

int program_tell(struct program *p, const char *text)
{
    size_t length = strlen(text);

    while (length) {
        ssize_t sent = write(p->requests, text, length);
        if (sent < 0 && errno == EINTR)
            continue;
        /* EAGAIN: the pipe is full of what a command did not read that answers
         * without reading; it will be found silent. */
        if (sent < 0)
            return errno == EPIPE || errno == EAGAIN ? 0 : errno;
        text += sent;
        length -= (size_t)sent;
    }
    return 0;
}

void program_farewell(struct program *p, double deadline)
{
    if (!p->pid)
        return;
    drop(&p->requests);
    while (!host_stopped(p->host) && program_hear(p, deadline) == HEARD_LINE)
        program_next(p);
    if (p->pid)
        program_end(p);
}
