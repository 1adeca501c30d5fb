/* SPDX-License-Identifier: MIT */
/*
 * A message in protobuf's wire format, being written.
 *
 * Fields are appended in the order of the calls. A message that ran out of
 * memory has failed set; every later call on it does nothing.
 * Source: protobuf.dev, "Encoding".
 */
#ifndef QKVEC_WIRE_H
#define QKVEC_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct wire {
    unsigned char *bytes;    /* length of them, to free with wire_free */
    size_t length, room;
    int failed;
};

void wire_integer(struct wire *w, unsigned field, uint64_t value);
void wire_bytes(struct wire *w, unsigned field, const void *bytes, size_t length);
void wire_text(struct wire *w, unsigned field, const char *text);

/* count numbers of width bytes each, little endian whatever this machine is. */
void wire_numbers(struct wire *w, unsigned field, const void *numbers, size_t width, size_t count);

/* Append a finished message as a field, and free it. */
void wire_message(struct wire *w, unsigned field, struct wire *message);

/* Append a finished message's fields to w's own, and free it. */
void wire_join(struct wire *w, struct wire *message);

void wire_free(struct wire *w);

#endif
