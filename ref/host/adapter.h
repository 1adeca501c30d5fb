/* SPDX-License-Identifier: MIT */
/* What the adapters of the host share. */
#ifndef QKVEC_HOST_ADAPTER_H
#define QKVEC_HOST_ADAPTER_H

#include "../store/text.h"
#include "host.h"
#include "protocol.h"

/* The state of an adapter begins with it. */
struct host_adapter {
    const struct host *host;
    void (*close)(struct host_adapter *adapter);
};

void host_say(struct result *result, enum outcome outcome, const char *format, ...) QKVEC_PRINTF(3, 4);

/* What became of a worker that let go of its socket, as a sentence: its status;
 * was it killed by us, as it did not end; what it left, of which nothing is believed. */
void host_tell_death(struct result *result, int status, int killed, const struct protocol_fault *fault);

#endif
