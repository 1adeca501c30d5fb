/* SPDX-License-Identifier: MIT */
/* A command that runs, and the lines that go to and fro. */
#ifndef QKVEC_HOST_PROGRAM_H
#define QKVEC_HOST_PROGRAM_H

#include <sys/types.h>

#include "host.h"

#define PROGRAM_LINE 4096

struct program {
    const struct host *host;
    const char *command;
    pid_t pid;                  /* of its supervisor; 0: not running */
    int requests, answers, life;
    char dir[1024];             /* for files, gone when the program is */
    char line[PROGRAM_LINE];
    size_t held, used;          /* bytes in line that have been read; and those of the line at its begin */
};

/* NULL, or why not. */
const char *program_start(struct program *p, char error[600]);

/* Kills it and removes its files; its status as waitpid() gives it. */
int program_end(struct program *p);

/* One line, without its end, at the begin of p->line. */
enum heard { HEARD_LINE, HEARD_NOTHING, HEARD_STOP, HEARD_END, HEARD_TOO_LONG, HEARD_FAILED };    /* FAILED: errno of this process */
enum heard program_hear(struct program *p, double deadline);

enum program_state { PROGRAM_GONE, PROGRAM_WAITS, PROGRAM_TALKS };

/* What it does while nothing is asked of it. A program that has ended is cleared away. */
enum program_state program_state(struct program *p);

/* The line at the begin of p->line has been dealt with. What follows it? */
enum program_state program_next(struct program *p);

/* Send a line. Returns 0, or errno if this process could not write it. A command
 * that has ended is no failure: the next read finds it so. */
int program_tell(struct program *p, const char *text);

/* The end of its input; then it has until the deadline to end by itself. */
void program_farewell(struct program *p, double deadline);

#endif
