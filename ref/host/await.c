/* SPDX-License-Identifier: MIT */
/* Waiting for another process while it talks. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

#define TICK 100    /* milliseconds between two looks at what no descriptor tells */

double process_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A failed read that has to be tried again later. */
static int not_yet(ssize_t got)
{
    return got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);
}

static void hear(struct child_output *c)
{
    static const char enough[] = "\nqkvec: the kernel prints more, which is not shown\n";
    char text[65536];
    ssize_t got = read(c->fd, text, sizeof text);

    if (not_yet(got))
        return;
    if (got <= 0) {    /* closed by the child: no more to hear */
        close(c->fd);
        c->fd = -1;
        return;
    }
    c->heard += (size_t)got;
    if (c->shown >= CHILD_OUTPUT_SHOWN)
        return;
    size_t rest = CHILD_OUTPUT_SHOWN - c->shown, show = (size_t)got < rest ? (size_t)got : rest;
    c->shown += show;
    fwrite(text, 1, show, stderr);
    if (c->shown >= CHILD_OUTPUT_SHOWN)
        fputs(enough, stderr);
}

enum awaited process_await(int fd, pid_t child, struct child_output *child_output, double deadline, int (*stopped)(const void *), const void *context)
{
    struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = -1, .events = POLLIN } };

    for (;;) {
        double left = (deadline - process_clock()) * 1000;
        if (stopped(context))
            return AWAITED_STOP;
        if (left <= 0)
            return AWAITED_TIMEOUT;
        p[1].fd = child_output ? child_output->fd : -1;
        p[0].revents = p[1].revents = 0;
        int ready = poll(p, 2, left < TICK ? (int)left + 1 : TICK);
        if (ready < 0 && errno != EINTR && errno != EAGAIN)
            return AWAITED_FAILED;
        if (ready == 0 && process_has_ended(child))    /* it may have written before it ended */
            return poll(p, 1, 0) > 0 ? AWAITED : AWAITED_END;
        if (ready <= 0)
            continue;
        if (p[1].revents)
            hear(child_output);
        if (child_output && child_output->heard > CHILD_OUTPUT_LIMIT)
            return AWAITED_TOO_MUCH;
        if (p[0].revents)
            return AWAITED;
    }
}

enum awaited process_await_all(int fd, pid_t child, void *data, size_t bytes, struct child_output *child_output, double deadline,
                               int (*stopped)(const void *), const void *context)
{
    char *to = data;

    while (bytes) {
        enum awaited awaited = process_await(fd, child, child_output, deadline, stopped, context);
        if (awaited != AWAITED)
            return awaited;
        ssize_t got = read(fd, to, bytes);
        if (not_yet(got))
            continue;
        if (got < 0 && errno != ECONNRESET)
            return AWAITED_FAILED;
        if (got <= 0)
            return AWAITED_END;
        to += got;
        bytes -= (size_t)got;
    }
    return AWAITED;
}
