/* SPDX-License-Identifier: MIT */
/* What the doors of the host share. */
#ifndef QKVEC_HOST_DOOR_H
#define QKVEC_HOST_DOOR_H

#include "../store/text.h"
#include "host.h"
#include "host_wire.h"

/* The state of a door begins with it. */
struct host_door {
    const struct host *host;
    void (*close)(struct host_door *door);
};

void host_say(struct result *result, enum outcome outcome, const char *format, ...) QKVEC_PRINTF(3, 4);

/* What became of a worker that let go of its socket, as a sentence: its status;
 * was it killed by us, as it did not end; what it left, of which nothing is believed. */
void host_tell_death(struct result *result, int status, int killed, const struct wire_fault *fault);

#endif
