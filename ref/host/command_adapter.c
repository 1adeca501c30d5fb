/* SPDX-License-Identifier: MIT */
/*
 * The adapter to a program in any language: it gets "IN<TAB>OUT" in a line and
 * answers "ok", "skip REASON" or "fail REASON" in one.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapter.h"
#include "process.h"
#include "program.h"

#define STILLBORN 3         /* deaths before the first answer; then no more attempts */
#define FAREWELL 2.0        /* seconds to end by itself when all is done */

struct command_adapter {
    struct host_adapter base;
    struct program program;
    size_t cases, deaths;       /* so far; deaths before any answer */
    size_t answered;            /* cases, by the program that runs */
    int ever;                   /* any case was answered */
};

static const char *write_input(const char *path, const struct vector *v, const struct profile *p, char error[600])
{
    enum npz_type type = p == &profiles[PROFILE_FLOAT64] ? NPZ_F8 : p == &profiles[PROFILE_FLOAT16] ? NPZ_F2 : NPZ_F4;
    struct npz z = { 0 };
    const char *wrong = vector_pack(&z, &v->in, v->is_causal, v->dropout, type);

    if (!wrong)
        wrong = vector_put_text(&z, "dtype", p == &profiles[PROFILE_TF32] ? "float32" : p->name);
    if (!wrong)
        wrong = npz_write(&z, path);
    if (wrong)
        snprintf(error, 600, "the case cannot be written to its file: %.500s", wrong);
    npz_free(&z);
    return wrong ? error : NULL;
}

static void judge_line(struct command_adapter *d, struct result *result, const char *out, const struct vector *v)
{
    const char *line = d->program.line;
    size_t length = strcspn(line, " :");    /* "skip: REASON" is meant well */
    int word = length == 4;
    const char *reason = line[length] ? line + length + strspn(line + length, " :") : "no reason given";
    struct stat st;

    if (!strcmp(line, "ok")) {
        int missing = stat(out, &st), why = errno;
        if (missing && why != ENOENT && why != ENOTDIR && why != ELOOP)
            host_say(result, OUTCOME_UNJUDGED, "the command's results cannot be examined: %s", strerror(why));
        else if (missing)
            host_say(result, OUTCOME_ERROR, "answered ok, but wrote no file where it was told to");
        else
            results_read(result, out, "the file that it wrote", v);
        if (result->outcome == OUTCOME_FAIL)
            result->outcome = OUTCOME_ERROR;
    } else if (word && !strncmp(line, "skip", 4)) {
        host_say(result, OUTCOME_SKIP, "skipped by the command: %.400s", reason);
    } else if (word && !strncmp(line, "fail", 4)) {
        host_say(result, OUTCOME_ERROR, "the command says that it failed: %.400s", reason);
    } else {
        host_say(result, OUTCOME_ERROR, "answered \"%.100s\"; wanted ok, skip REASON or fail REASON, and nothing else on standard output", line);
        program_end(&d->program);    /* who knows what comes next */
    }
}

/* Returns 0 where the case has to be sent again: the program has ended in good
 * order after an earlier one, as one does that answers a single case. */
static int hear(struct command_adapter *d, struct result *result, const char *out, const struct vector *v)
{
    const struct host *host = d->base.host;
    char fate[64];
    enum heard heard = program_hear(&d->program, process_clock() + host->timeout);

    if (heard == HEARD_LINE) {
        d->answered++;
        d->ever = 1;
        judge_line(d, result, out, v);
        if (program_next(&d->program) == PROGRAM_TALKS) {
            program_end(&d->program);
            host_say(result, OUTCOME_ERROR, "answered more than once");
        }
        return 1;
    }
    int why = errno, status = program_end(&d->program);
    if (heard == HEARD_NOTHING) {
        host_say(result, OUTCOME_TIMEOUT, "no answer within %g seconds (is standard output flushed after each line?)", host->timeout);
    } else if (heard == HEARD_STOP) {
        host_say(result, OUTCOME_UNJUDGED, "interrupted");
    } else if (heard == HEARD_FAILED) {
        host_say(result, OUTCOME_UNJUDGED, "the command's answer cannot be awaited: %s", strerror(why));
    } else if (heard == HEARD_TOO_LONG) {
        host_say(result, OUTCOME_ERROR, "answered a line of more than %d bytes; wanted ok, skip REASON or fail REASON", PROGRAM_LINE);
    } else if (d->answered && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    } else {
        d->deaths += !d->ever;
        host_say(result, OUTCOME_CRASH, "the command ended without an answer: %s%s", process_fate(fate, status),
                 WIFEXITED(status) && WEXITSTATUS(status) == 127 ? " (the shell did not find it)" : "");
    }
    return 1;
}

/* 0: once more. */
static int converse(struct command_adapter *d, struct result *result, const struct vector *v, const struct profile *p)
{
    char error[600], in[1100], out[1100], line[2300];
    const char *wrong = NULL;

    if (!d->program.pid) {
        d->answered = 0;
        wrong = program_start(&d->program, error);
    }
    if (!wrong) {
        d->cases++;
        snprintf(in, sizeof in, "%s/in-%zu.npz", d->program.dir, d->cases);
        snprintf(out, sizeof out, "%s/out-%zu.npz", d->program.dir, d->cases);
        snprintf(line, sizeof line, "%s\t%s\n", in, out);
        wrong = write_input(in, v, p, error);
    }
    if (wrong) {
        host_say(result, OUTCOME_UNJUDGED, "%s", wrong);
        return 1;
    }
    int failed = program_tell(&d->program, line), done = 1;
    if (failed) {
        host_say(result, OUTCOME_UNJUDGED, "the case cannot be sent to the command: %s", strerror(failed));
        program_end(&d->program);
    } else {
        done = hear(d, result, out, v);
    }
    unlink(in);
    unlink(out);
    return done;
}

static void answer(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p)
{
    struct command_adapter *d = self->state;

    if (d->deaths >= STILLBORN) {
        host_say(result, OUTCOME_CRASH, "the command ended %d times without any answer and is not started again", STILLBORN);
        return;
    }
    if (program_state(&d->program) == PROGRAM_TALKS) {
        program_end(&d->program);
        host_say(result, OUTCOME_ERROR, "the command said something before this case was sent: it answered an earlier one twice, or late");
        return;
    }
    while (!converse(d, result, v, p))
        ;
}

/* ---- the adapter ---- */

static void close_command(struct host_adapter *base)
{
    struct command_adapter *d = (struct command_adapter *)(void *)base;

    program_farewell(&d->program, process_clock() + FAREWELL);
    free(d);
}

const char *host_open_command(struct adapter *adapter, const struct host *host, const char *command, char error[600])
{
    struct command_adapter *d = calloc(1, sizeof *d);

    if (!d) {
        snprintf(error, 600, "not enough memory");
        return error;
    }
    d->base = (struct host_adapter){ host, close_command };
    d->program = (struct program){ .host = host, .command = command, .requests = -1, .answers = -1, .life = -1 };
    *adapter = (struct adapter){ .name = command, .answer = answer, .state = d, .scope = SCOPE_LAYER };
    return NULL;
}
