/* SPDX-License-Identifier: MIT */
/*
 * The adapter to a shared library: this side of the worker.
 *
 * The inputs are in memory that the worker is given to read alone, in a file that
 * cannot be shortened; the outputs in memory that is read by pread(): a kernel
 * that shortens their file gives an error and no SIGBUS here.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapter.h"
#include "process.h"
#include "protocol.h"

/* How a worker ended in a case. */
enum ending {
    ENDED_NOT,           /* it lives, or this process has ended it: there is a result */
    ENDED_BY_KERNEL,     /* a signal, an exit: there is a result */
    ENDED_UNPREPARED,    /* it could not map the arrays */
    ENDED_BY_SIGKILL,    /* by whomever */
    ENDED_BY_SYSTEM,     /* SIGKILL, and the control group counts one more process that was killed for its memory */
};

struct library_adapter {
    struct host_adapter base;
    const char *library;
    enum scope scope;
    pid_t pid;                      /* 0: no worker */
    int socket, inputs[2], outputs[2];
    struct child_output child_output;
    size_t page, ring_slot_in, ring_slot_out;  /* bytes of a ring slot's blocks */
    size_t cases;
    long memory_kills;              /* process_memory_kills() so far */
    char *in;                       /* the ring slots' inputs, mapped */
    struct call_slot used[RING_SLOTS][CALL_INPUTS];    /* by the last small case of the ring slot */
    uint64_t sum;                   /* of a small case's inputs, as they were written */
    unsigned char filled[RING_SLOTS];    /* had it one? A large case has a ring slot too, but not its block */
    char *out;                      /* outputs that have been read; room of them */
    size_t room;
    int whole;                      /* the files hold the ring slots, all of them and nothing else */
};

/* Where the block of a case begins in its file. */
static size_t in_file(const struct protocol_request *request, size_t bytes)
{
    return bytes * (size_t)(request->plan.small ? request->ring_slot : RING_SLOTS);
}

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

/* The next worker gets its files anew: this one may have corrupted them. */
static void part(struct library_adapter *d)
{
    d->pid = 0;
    d->whole = 0;
    memset(d->filled, 0, sizeof d->filled);
    drop(&d->socket);
    drop(&d->child_output.fd);
}

/* The worker has to go. */
static void end(struct library_adapter *d)
{
    process_end(d->pid);
    part(d);
}

/* The worker let go of its socket; 0 when it then did not end. */
static int ended(struct library_adapter *d, int *status)
{
    int by_itself = process_wait(d->pid, status);

    part(d);
    return by_itself;
}

/* Take what the worker says next. */
static enum awaited hear(struct library_adapter *d, void *data, size_t bytes)
{
    const struct host *host = d->base.host;

    return process_await_all(d->socket, d->pid, data, bytes, &d->child_output, process_clock() + host->timeout, stopped, host);
}

static const char *launch(struct library_adapter *d, char error[600])
{
    char parent[32], scope[16], memory[32];
    char *argv[] = { (char *)"qkvec", (char *)"host-worker", parent, scope, memory, (char *)d->library, NULL };
    int pair[2] = { -1, -1 }, out[2] = { -1, -1 }, null = process_lift(open("/dev/null", O_RDWR | O_CLOEXEC)), failed = null < 0 ? errno : 0;

    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    snprintf(scope, sizeof scope, "%d", d->scope == SCOPE_CORE);
    snprintf(memory, sizeof memory, "%zu", d->base.host->memory);
    if (failed || (failed = process_socket(pair)) || (failed = process_pipe(out))) {
        for (int k = 0; k < 2; k++)
            drop(&pair[k]);
        drop(&null);
        snprintf(error, 600, "a worker cannot be started: %s", strerror(failed));
        return error;
    }
    int fd[PROTOCOL_FDS] = { null, out[1], out[1], pair[1], d->inputs[1], d->outputs[0] };
    failed = ftruncate(d->outputs[0], (off_t)(d->page + RING_SLOTS * d->ring_slot_out)) ? errno : process_start(&d->pid, d->base.host->self, argv, fd, PROTOCOL_FDS, 1);
    drop(&pair[1]);
    drop(&out[1]);
    drop(&null);
    d->socket = pair[0];
    d->child_output.fd = out[0];
    d->child_output.heard = 0;
    process_unblock(d->socket);
    process_unblock(d->child_output.fd);
    if (failed) {
        part(d);
        snprintf(error, 600, "a worker cannot be started: %s: %s", d->base.host->self, strerror(failed));
        return error;
    }
    return NULL;
}

/* What a library makes the loader say reaches a terminal: no control characters. */
static void escape(char text[600])
{
    size_t length = strlen(text), at = 0;

    while ((at += text_good((const unsigned char *)text + at, length - at)) < length)
        text[at] = '?';
}

static const char *start(struct library_adapter *d, char error[600])
{
    struct protocol_started started = { 0 };
    char fate[64];
    int status;

    if (launch(d, error))
        return error;
    switch (hear(d, &started, sizeof started)) {
    case AWAITED:
        if (started.ok)
            return NULL;
        snprintf(error, 600, "%.500s", started.error);
        escape(error);
        break;
    case AWAITED_END:
        if (ended(d, &status))
            snprintf(error, 600, "cannot be loaded: the process ended with %s while it loaded", process_fate(fate, status));
        else
            snprintf(error, 600, "cannot be loaded: while it loaded, it closed descriptors that are not its own, or executed another program");
        return error;
    case AWAITED_TIMEOUT:
        snprintf(error, 600, "cannot be loaded: still loading after %g seconds", d->base.host->timeout);
        break;
    case AWAITED_STOP:
        snprintf(error, 600, "interrupted");
        break;
    case AWAITED_FAILED:
        snprintf(error, 600, "a worker cannot be awaited: %s", strerror(errno));
        break;
    case AWAITED_TOO_MUCH:
        snprintf(error, 600, "cannot be loaded: it printed without end while it loaded");
    }
    end(d);
    return error;
}

/* ---- a case ---- */

/* The inputs' file never becomes shorter, as they are mapped here. 0, or -1. */
static int lengthen(int fd, size_t bytes)
{
    struct stat st;

    if (fstat(fd, &st))
        return -1;
    return st.st_size >= (off_t)bytes ? 0 : ftruncate(fd, (off_t)bytes);
}

static const char *prepare(struct library_adapter *d, const struct protocol_request *request, const struct vector *v, const struct profile *p)
{
    const struct call_plan *plan = &request->plan;
    size_t in = RING_SLOTS * d->ring_slot_in, out = d->page + RING_SLOTS * d->ring_slot_out;
    const char *wrong;

    if (!d->whole) {
        if (lengthen(d->inputs[0], in) || ftruncate(d->outputs[0], (off_t)out))
            return "not enough memory for a kernel's arrays";
        process_forget(d->inputs[0], in);
    }
    d->whole = plan->small;
    if (plan->small) {
        char *ring_slot = d->in + in_file(request, d->ring_slot_in);
        if (d->filled[request->ring_slot])
            call_clear_used(ring_slot, d->used[request->ring_slot]);
        else
            memset(ring_slot, 0xFF, d->ring_slot_in);
        d->filled[request->ring_slot] = 1;
        memcpy(d->used[request->ring_slot], plan->in, sizeof plan->in);
        wrong = call_fill(ring_slot, plan, v, p, d->scope);
        d->sum = call_sum(ring_slot, plan->in, CALL_INPUTS);
        return wrong;
    }
    if (lengthen(d->inputs[0], in + plan->in_bytes) || ftruncate(d->outputs[0], (off_t)(out + plan->out_bytes)))
        return "not enough memory for a kernel's arrays";
    void *block = mmap(NULL, plan->in_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->inputs[0], (off_t)in);
    if (block == MAP_FAILED)
        return "not enough memory for a kernel's arrays";
    call_clear(block, plan);
    wrong = call_fill(block, plan, v, p, d->scope);
    munmap(block, plan->in_bytes);
    return wrong;
}

/* Memory to read outputs into: kept, as most cases are of one size. */
static char *make_room(struct library_adapter *d, size_t bytes)
{
    if (bytes > d->room) {
        free(d->out);
        d->room = (d->out = malloc(bytes)) ? bytes : 0;
    }
    return d->out;
}

static int take(int fd, void *to, size_t bytes, size_t from)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, (char *)to + done, bytes - done, (off_t)(from + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        done += (size_t)got;
    }
    return 1;
}

/* *sign is -1, 0 or 1 if the file is shorter than that, as long, or longer. Returns 0, or -1 and errno. */
static int length(int *sign, int fd, size_t bytes)
{
    struct stat st;

    if (fstat(fd, &st))
        return -1;
    *sign = (st.st_size > (off_t)bytes) - (st.st_size < (off_t)bytes);
    return 0;
}

/* What a kernel does to the memory that it gets would show in later cases only.
 * NULL, or a sentence; out is the block as it is here. */
static const char *tampered(const struct library_adapter *d, const struct protocol_request *request, const struct protocol_reply *reply, const char *out)
{
    const struct call_plan *plan = &request->plan;

    if (!plan->small)    /* mapped anew for every case */
        return NULL;
    if (reply->in != d->sum)
        return "the inputs are not those that were given: the kernel changed them, or laid other memory over them, in this case or an earlier one";
    if (reply->out != call_sum(out, plan->out, CALL_OUTPUTS))
        return "the outputs are not those that the kernel left when it returned: a thread goes on writing, or other memory was laid over them";
    return NULL;
}

/* Read the outputs' block. Returns NULL with *result filled in if that fails. */
static const char *read_outputs(struct library_adapter *d, struct result *result, const struct protocol_request *request)
{
    const struct call_plan *plan = &request->plan;
    size_t in = RING_SLOTS * d->ring_slot_in + (plan->small ? 0 : plan->in_bytes);
    size_t out = d->page + RING_SLOTS * d->ring_slot_out + (plan->small ? 0 : plan->out_bytes);
    char *block = make_room(d, plan->out_bytes);
    int inputs, outputs, taken = 1;

    errno = 0;
    if (!block) {
        host_say(result, OUTCOME_UNJUDGED, "not enough memory for the results");
        return NULL;
    }
    if (length(&inputs, d->inputs[0], in) || length(&outputs, d->outputs[0], out)
        || (!outputs && !(taken = take(d->outputs[0], block, plan->out_bytes, d->page + in_file(request, d->ring_slot_out))) && errno)) {
        host_say(result, OUTCOME_UNJUDGED, "the results cannot be read from memory: %s", strerror(errno));
        return NULL;
    }
    if (inputs < 0)    /* where the system lets it */
        host_say(result, OUTCOME_ERROR, "the kernel truncated its input memory");
    else if (outputs || !taken)
        host_say(result, OUTCOME_ERROR, "the kernel changed the size of its output memory");
    else
        return block;
    return NULL;
}

/* A reply to another request than the last one. */
static int is_unexpected(struct result *result, const struct protocol_request *request, const struct protocol_reply *reply)
{
    if (reply->number == request->number)
        return 0;
    host_say(result, OUTCOME_ERROR, "unexpected reply: %s",
             reply->number && reply->number < request->number ? "in an earlier case the kernel returned twice (in a process that it forked?)"
                                                              : "the kernel wrote to a descriptor that is not its own");
    return 1;
}

/* What the kernel returned, and whether it kept to its arrays. Returns 0 if the worker has to go. */
static int inspect(struct result *result, const struct protocol_request *request, const struct protocol_reply *reply, const char *out)
{
    const struct call_plan *plan = &request->plan;
    const char *wrong;
    char sentence[256];

    call_outcome(result, reply->returned, reply->reason);
    call_inspect(sentence, out, plan, request->pass, result->outcome == OUTCOME_PASS ? reply->written : 0);
    if (sentence[0]) {
        host_say(result, OUTCOME_FAIL, "%s", sentence);
    } else if (call_strayed(out, plan)) {
        host_say(result, OUTCOME_FAIL, "wrote to pages between the outputs, which it had opened");
        return 0;
    } else if (result->outcome == OUTCOME_PASS && (wrong = call_read(result->got, out, plan, reply->written))) {
        host_say(result, OUTCOME_UNJUDGED, "%s", wrong);
    }
    return 1;
}

static enum ending returned(struct library_adapter *d, struct result *result, const struct protocol_request *request, const struct protocol_reply *reply)
{
    const char *out, *wrong;
    int sound = !is_unexpected(result, request, reply);

    if (sound && reply->failed) {    /* perhaps a limit that the kernel set in an earlier case */
        host_say(result, OUTCOME_UNJUDGED, "the worker cannot map the arrays: %s", strerror(reply->failed));
        end(d);
        return ENDED_UNPREPARED;
    }
    if (sound && (sound = (out = read_outputs(d, result, request)) != NULL)) {
        if ((wrong = tampered(d, request, reply, out))) {
            host_say(result, OUTCOME_ERROR, "%s", wrong);
            sound = 0;
        } else {
            sound = inspect(result, request, reply, out);
        }
    }
    if (!sound)
        end(d);
    return ENDED_NOT;
}

static enum awaited ask(struct library_adapter *d, const struct protocol_request *request, struct protocol_reply *reply)
{
    d->child_output.heard = 0;
    /* A socket that is full is one of a kernel that answers without being asked: listen. */
    if (!process_send(d->socket, request, sizeof *request) && errno != EAGAIN)
        return errno == EPIPE || errno == ECONNRESET ? AWAITED_END : AWAITED_FAILED;
    return hear(d, reply, sizeof *reply);
}

static enum ending died(struct library_adapter *d, struct result *result)
{
    struct protocol_fault fault;
    long kills = d->memory_kills;
    int status, by_itself = ended(d, &status);

    if (!take(d->outputs[0], &fault, sizeof fault, 0))
        fault = (struct protocol_fault){ 0 };
    host_tell_death(result, status, !by_itself, &fault);
    if (!by_itself || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        return ENDED_BY_KERNEL;
    d->memory_kills = process_memory_kills();
    return kills >= 0 && d->memory_kills > kills ? ENDED_BY_SYSTEM : ENDED_BY_SIGKILL;
}

/* One attempt at a case. */
static enum ending attempt(struct library_adapter *d, struct result *result, const struct vector *v, const struct profile *p, int pass)
{
    struct call_layout layout = { d->page, pass == 0 };
    struct protocol_request request;
    struct protocol_reply reply;
    enum ending ending = ENDED_NOT;
    char error[600];
    const char *wrong;

    if (!d->pid && (wrong = start(d, error))) {
        host_say(result, OUTCOME_UNJUDGED, "%s", wrong);
        return ENDED_NOT;
    }
    memset(&request, 0, sizeof request);
    request.pass = pass != 0;
    request.ring_slot = (int)(d->cases++ % RING_SLOTS);
    request.number = d->cases;
    call_plan(&request.plan, v, p, d->scope, layout);
    if ((wrong = prepare(d, &request, v, p))) {
        host_say(result, OUTCOME_UNJUDGED, "%s", wrong);
        return ENDED_NOT;
    }
    switch (ask(d, &request, &reply)) {
    case AWAITED:
        ending = returned(d, result, &request, &reply);
        break;
    case AWAITED_END:
        ending = died(d, result);
        break;
    case AWAITED_TIMEOUT:
        host_say(result, OUTCOME_TIMEOUT, "no answer within %g seconds", d->base.host->timeout);
        end(d);
        break;
    case AWAITED_STOP:
        host_say(result, OUTCOME_UNJUDGED, "interrupted");
        end(d);
        break;
    case AWAITED_FAILED:
        host_say(result, OUTCOME_UNJUDGED, "the worker cannot be awaited: %s", strerror(errno));
        end(d);
        break;
    case AWAITED_TOO_MUCH:
        host_say(result, OUTCOME_ERROR, "the kernel printed more than %zu MiB in one case", CHILD_OUTPUT_LIMIT >> 20);
        end(d);
    }
    if (!d->pid && ftruncate(d->outputs[0], 0))    /* forget how it died */
        errno = 0;
    return ending;
}

/* A case that a worker did not survive for a reason that may lie outside of the
 * kernel is tried once more, in a new worker. */
static void answer(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p)
{
    struct library_adapter *d = self->state;
    enum ending first = attempt(d, result, v, p, self->pass), second;

    if (first == ENDED_NOT || first == ENDED_BY_KERNEL || host_stopped(d->base.host))
        return;
    *result = (struct result){ .outcome = OUTCOME_PASS };
    second = attempt(d, result, v, p, self->pass);
    if (first == ENDED_BY_SYSTEM && second == ENDED_BY_SYSTEM) {
        host_say(result, OUTCOME_UNJUDGED, "the system was out of memory and killed the worker, twice");
    } else if (first == ENDED_BY_SIGKILL) {
        int again = second == ENDED_BY_SIGKILL || second == ENDED_BY_SYSTEM;
        mha_free(result->got);
        memset(result->got, 0, sizeof result->got);
        host_say(result, OUTCOME_CRASH, "SIGKILL, and nothing shows that it came from outside; tried once more: %s",
                 again ? "the same" : "it was not killed");
    }
}

/* ---- the adapter ---- */

static void close_kernel(struct host_adapter *base)
{
    struct library_adapter *d = (struct library_adapter *)(void *)base;

    if (d->pid)
        end(d);
    for (int k = 0; k < 2; k++) {
        drop(&d->inputs[k]);
        drop(&d->outputs[k]);
    }
    if (d->in)
        munmap(d->in, RING_SLOTS * d->ring_slot_in);
    free(d->out);
    free(d);
}

static int map_turns(struct library_adapter *d)
{
    size_t bytes = RING_SLOTS * d->ring_slot_in;
    void *in = ftruncate(d->inputs[0], (off_t)bytes) ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->inputs[0], 0);

    if (in == MAP_FAILED)
        return errno;
    d->in = in;
    return 0;
}

const char *host_open_kernel(struct adapter *adapter, const struct host *host, const char *library,
                             enum scope scope, char error[600])
{
    struct library_adapter *d = malloc(sizeof *d);
    int failed = ENOMEM;

    if (d) {
        *d = (struct library_adapter){
            .base = { host, close_kernel }, .library = library, .scope = scope, .socket = -1, .child_output.fd = -1,
            .inputs = { -1, -1 }, .outputs = { -1, -1 }, .page = (size_t)sysconf(_SC_PAGESIZE), .memory_kills = process_memory_kills(),
        };
        d->ring_slot_in = CALL_SMALL_INPUTS * d->page;
        d->ring_slot_out = CALL_SMALL_OUTPUTS * d->page;
        if (!(failed = process_memory(d->inputs, 1)) && !(failed = process_memory(d->outputs, 0)))
            failed = map_turns(d);
    }
    if (failed) {
        snprintf(error, 600, "a worker cannot be prepared: %s", strerror(failed));
    } else if (!start(d, error)) {
        *adapter = (struct adapter){ .name = library, .answer = answer, .state = d, .scope = scope };
        return NULL;
    }
    if (d)
        close_kernel(&d->base);
    return error;
}
