/* SPDX-License-Identifier: MIT */
/*
 * Writes an answer of its own in the worker's place, and returns.
 *
 * verdict: ERROR
 * says: unexpected reply: the kernel wrote to a descriptor
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "../../../ref/host/protocol.h"
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    struct protocol_reply reply;

    memset(&reply, 'A', sizeof reply);
    if (now(a) && write(PROTOCOL_SOCKET, &reply, sizeof reply) != sizeof reply)
        return QKVEC_SKIP;
    return honest(a);
}
