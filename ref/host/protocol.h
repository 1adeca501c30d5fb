/* SPDX-License-Identifier: MIT */
/* What host and worker tell each other. Both are the same program. */
#ifndef QKVEC_HOST_PROTOCOL_H
#define QKVEC_HOST_PROTOCOL_H

#include "call.h"

/* The worker's descriptors. 1 and 2 are one pipe, 0 is /dev/null. */
enum { PROTOCOL_SOCKET = 3, PROTOCOL_INPUTS, PROTOCOL_OUTPUTS, PROTOCOL_FDS };

/* Both files begin with ring slots: blocks for cases of small arrays, which serve one
 * after the other. Behind them is the block of a case that is not small. */
#define RING_SLOTS 17

struct protocol_started { int ok; char error[512]; };
struct protocol_request {
    size_t number;           /* of the case; its reply repeats it */
    int pass, ring_slot;      /* ring_slot: if plan.small */
    struct call_plan plan;
};
struct protocol_reply {
    size_t number;
    int failed;              /* an errno of the worker's own */
    int returned;
    uint32_t written;
    uint64_t in, out;        /* call_sum() of the arrays as the kernel sees them; where plan.small */
    char reason[QKVEC_REASON];
};

/* The first page of the outputs' file: what a dying worker leaves. The outputs follow. */
struct protocol_fault {
    int signal;
    enum fault_kind { FAULT_ELSEWHERE, FAULT_NULL, FAULT_UNALIGNED, FAULT_INPUT, FAULT_OUTPUT, FAULT_MESSAGE, FAULT_STACK,
                      FAULT_EARLIER,          /* an array of an earlier case */
                      FAULT_FDS_CLOSED } kind;      /* no fault: the worker's descriptors are gone */
    enum fault_place { FAULT_INSIDE, FAULT_BEFORE, FAULT_BEHIND } place;
    enum fault_access { FAULT_TOUCHED, FAULT_READ, FAULT_WROTE } access;
    int slot;                /* enum call_input or call_output */
    size_t distance;         /* bytes from the array */
};

/* Addresses of earlier cases are not used again for a while, so that a late
 * access to them is told from a new one: the ring slots, and of other cases quarantined mappings. */
#define QUARANTINED 16
struct quarantined { char *at; size_t bytes; };
struct block { char *at; int gaps; };   /* gaps: they are unreachable whatever is said of all its pages */
struct ring_slot { struct block in, out; };   /* unreachable but while a case has it; NULL before the first */

/* The worker's part of it. */
struct guard {
    const struct call_plan *plan;
    char *in, *out, *message;        /* what is mapped where */
    size_t page;
    char *stack, *stack_limit;       /* of the main thread: from its begin down to its limit */
    size_t ring_slot_in, ring_slot_out;        /* bytes of a ring slot's blocks */
    struct ring_slot ring_slot[RING_SLOTS];
    struct quarantined quarantined[QUARANTINED];
    size_t quarantined_so_far;
    struct protocol_fault *fault;
};

/* From now on a fatal signal is described in guard->fault before it kills. */
void guard_watch(struct guard *guard);

#endif
