/* SPDX-License-Identifier: MIT */
/* In the worker: which buffer did a fatal signal come from? */
#define _GNU_SOURCE    /* the processor's error code, where it is known */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "protocol.h"

/* A handler gets no argument of ours: the only mutable global of the program. */
static struct guard *volatile watched;
static char handler_stack[1 << 16];

static enum fault_access access_of(int signal, const void *context)
{
#if defined(__linux__) && defined(__x86_64__)
    const ucontext_t *u = context;
    if (signal == SIGSEGV && u->uc_mcontext.gregs[REG_TRAPNO] == 14)
        return u->uc_mcontext.gregs[REG_ERR] & 2 ? FAULT_WROTE : FAULT_READ;
#endif
    (void)signal, (void)context;
    return FAULT_TOUCHED;
}

/* The slot that at is in, or nearest to. */
static void find_slot(struct protocol_fault *f, const struct call_slot *slot, int count, size_t at)
{
    size_t nearest = SIZE_MAX;

    for (int k = 0; k < count; k++) {
        const struct call_slot *s = &slot[k];
        if (!s->there)
            continue;
        int behind = at >= s->at + s->bytes, before = at < s->at;
        size_t distance = behind ? at - (s->at + s->bytes) : before ? s->at - at : 0;
        if (!behind && !before) {
            f->slot = k, f->place = FAULT_INSIDE, f->distance = 0;
            return;
        }
        if (distance < nearest) {
            nearest = distance;
            f->slot = k, f->place = before ? FAULT_BEFORE : FAULT_BEHIND, f->distance = distance;
        }
    }
}

static int is_within(const char *at, const char *block, size_t bytes)
{
    return block && at >= block && at < block + bytes;
}

static int is_earlier(const struct guard *g, const char *at)
{
    for (int k = 0; k < RING_SLOTS; k++)
        if (is_within(at, g->ring_slot[k].in.at, g->ring_slot_in) || is_within(at, g->ring_slot[k].out.at, g->ring_slot_out))
            return 1;
    for (int k = 0; k < QUARANTINED; k++)
        if (is_within(at, g->quarantined[k].at, g->quarantined[k].bytes))
            return 1;
    return 0;
}

static void describe(struct protocol_fault *f, const struct guard *g, const siginfo_t *info)
{
    const char *at = info->si_addr;
    const struct call_plan *plan = g->plan;

    if (f->signal != SIGSEGV && f->signal != SIGBUS)
        return;
    if (info->si_code != SEGV_MAPERR && info->si_code != SEGV_ACCERR && !at)
        f->kind = FAULT_UNALIGNED;
    else if ((uintptr_t)at < 65536)
        f->kind = FAULT_NULL, f->distance = (uintptr_t)at;
    else if (is_within(at, g->in, plan->in_bytes))
        f->kind = FAULT_INPUT, find_slot(f, plan->in, CALL_INPUTS, (size_t)(at - g->in));
    else if (is_within(at, g->out, plan->out_bytes))
        f->kind = FAULT_OUTPUT, find_slot(f, plan->out, CALL_OUTPUTS, (size_t)(at - g->out));
    else if (is_within(at, g->message, 3 * g->page))
        f->kind = FAULT_MESSAGE;
    else if (at < g->stack && at >= g->stack_limit)
        f->kind = FAULT_STACK;
    else if (is_earlier(g, at))
        f->kind = FAULT_EARLIER;
}

static void on_fatal(int signal, siginfo_t *info, void *context)
{
    struct guard *g = watched;

    if (g && !g->fault->signal) {
        struct protocol_fault fault = { .signal = signal, .access = access_of(signal, context) };
        describe(&fault, g, info);
        *g->fault = fault;
    }
    /* The action is the default again: what raised the signal raises it again and dies. */
}

void guard_watch(struct guard *guard)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    struct sigaction action;
    stack_t stack = { .ss_sp = handler_stack, .ss_size = sizeof handler_stack };

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fatal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    watched = guard;
    sigaltstack(&stack, NULL);    /* so that an overflown stack can be told too */
    for (size_t k = 0; k < sizeof fatal / sizeof *fatal; k++)
        sigaction(fatal[k], &action, NULL);
}
