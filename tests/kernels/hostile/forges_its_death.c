/* SPDX-License-Identifier: MIT */
/*
 * Writes nonsense where a dying worker says how it died, and dies.
 *
 * verdict: CRASH
 * says: SIGABRT
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../../ref/host/protocol.h"
#include "hostile.h"

int qkvec_kernel(const struct qkvec_call *a)
{
    struct protocol_fault fault = { SIGABRT, FAULT_INPUT, FAULT_BEHIND, 1000000, 100000000, 1 };
    if (now(a) && pwrite(PROTOCOL_OUTPUTS, &fault, sizeof fault, 0) == sizeof fault) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    return honest(a);
}
