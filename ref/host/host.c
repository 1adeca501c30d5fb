/* SPDX-License-Identifier: MIT */
/* POSIX: how a process ended. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "adapter.h"
#include "process.h"

int host_stopped(const struct host *host)
{
    return host->stop && *host->stop;
}

void host_close(struct adapter *adapter)
{
    struct host_adapter *d = adapter->state;

    d->close(d);
    adapter->state = NULL;
}

void host_say(struct result *result, enum outcome outcome, const char *format, ...)
{
    va_list list;

    result->outcome = outcome;
    va_start(list, format);
    vsnprintf(result->reason, sizeof result->reason, format, list);
    va_end(list);
}

/* "wrote behind the end of output (the first byte 0 bytes behind it)" */
static void tell_array(char text[256], const struct protocol_fault *f)
{
    static const char *const verbs[] = { "touched", "read", "wrote" };
    const char *verb = verbs[f->access], *name = f->kind == FAULT_INPUT ? call_input_names[f->slot] : call_output_names[f->slot];

    if (f->place == FAULT_INSIDE && (f->access == FAULT_READ || f->kind == FAULT_OUTPUT))
        snprintf(text, 256, "%s cannot be reached any more: unmapped, or protected by the kernel", name);
    else if (f->place == FAULT_INSIDE)
        snprintf(text, 256, "wrote to the input %s, which is read-only", name);
    else if (f->place == FAULT_BEFORE)
        snprintf(text, 256, "%s %zu bytes in front of %s", verb, f->distance, name);
    else
        snprintf(text, 256, "%s behind the end of %s, %zu bytes from it", verb, name, f->distance);
}

/* The signal of which *fault tells, or 0. The kernel can write what it likes
 * there: it counts where the system saw the same signal. */
static int told_signal(int status, const struct protocol_fault *fault)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == fault->signal ? fault->signal : 0;
}

static enum fault_kind told_kind(const struct protocol_fault *f)
{
    int slots = f->kind == FAULT_INPUT ? CALL_INPUTS : CALL_OUTPUTS;
    int sound = (unsigned)f->place <= FAULT_BEHIND && (unsigned)f->access <= FAULT_WROTE && f->slot >= 0 && f->slot < slots;

    return (f->kind == FAULT_INPUT || f->kind == FAULT_OUTPUT) && !sound ? FAULT_ELSEWHERE : f->kind;
}

static void tell_end(struct result *result, int status, int killed, int deaf)
{
    char fate[64];

    process_fate(fate, status);
    if (killed)
        host_say(result, OUTCOME_CRASH, "the kernel closed descriptors that are not its own, or executed another program");
    else if (!WIFSIGNALED(status) && deaf)
        host_say(result, OUTCOME_CRASH, "the kernel closed descriptors that are not its own");
    else if (!WIFSIGNALED(status))
        host_say(result, OUTCOME_CRASH, "the kernel ended the process: %s", fate);
    else
        host_say(result, OUTCOME_CRASH, "%s", fate);
}

void host_tell_death(struct result *result, int status, int killed, const struct protocol_fault *fault)
{
    int signal = told_signal(status, fault);
    const char *name = process_signal_name(signal);
    char text[256];

    if (killed || !signal) {
        tell_end(result, status, killed, fault->kind == FAULT_FDS_CLOSED);
        return;
    }
    switch (told_kind(fault)) {
    case FAULT_NULL:
        host_say(result, OUTCOME_CRASH, "%s: a NULL pointer (an input that is not there is NULL; so is memory that malloc() refused)", name);
        break;
    case FAULT_UNALIGNED:
        host_say(result, OUTCOME_CRASH, "%s: a wild pointer, or an aligned load (arrays are aligned as their numbers are, no more)", name);
        break;
    case FAULT_INPUT:
    case FAULT_OUTPUT:
        tell_array(text, fault);
        host_say(result, OUTCOME_CRASH, "%s: %s", name, text);
        break;
    case FAULT_MESSAGE:
        host_say(result, OUTCOME_CRASH, "%s: wrote outside of reason, which has %d bytes, or of *written", name, QKVEC_REASON);
        break;
    case FAULT_EARLIER:
        host_say(result, OUTCOME_CRASH, "%s: used an array of an earlier case (a thread that goes on when the kernel has returned, or a kept pointer)", name);
        break;
    case FAULT_STACK:
        host_say(result, OUTCOME_CRASH, "%s: the stack is too small for it", name);
        break;
    default:
        if (signal == SIGSEGV || signal == SIGBUS)
            host_say(result, OUTCOME_CRASH, "%s: an address outside of every array", name);
        else
            host_say(result, OUTCOME_CRASH, "%s", name);
    }
}
