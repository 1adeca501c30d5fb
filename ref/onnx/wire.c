/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, LENGTH_DELIMITED = 2 };    /* wire types */

static void append(struct wire *w, const void *bytes, size_t length)
{
    if (w->failed || !length)
        return;
    if (length > w->room - w->length) {
        size_t room = w->room ? w->room : 256;
        while (room - w->length < length && room <= SIZE_MAX / 2)
            room *= 2;
        unsigned char *larger = room - w->length < length ? NULL : realloc(w->bytes, room);
        if (!larger) {
            w->failed = 1;
            return;
        }
        w->bytes = larger;
        w->room = room;
    }
    memcpy(w->bytes + w->length, bytes, length);
    w->length += length;
}

/* Seven bits a byte, the lowest first; the high bit says that more follow. */
static void varint(struct wire *w, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;

    for (; value > 0x7f; value >>= 7)
        bytes[count++] = (unsigned char)(value & 0x7f) | 0x80;
    bytes[count++] = (unsigned char)value;
    append(w, bytes, count);
}

void wire_integer(struct wire *w, unsigned field, uint64_t value)
{
    varint(w, field << 3 | VARINT);
    varint(w, value);
}

void wire_bytes(struct wire *w, unsigned field, const void *bytes, size_t length)
{
    varint(w, field << 3 | LENGTH_DELIMITED);
    varint(w, length);
    append(w, bytes, length);
}

/* The bits of a number of 1, 4 or 8 bytes. */
static uint64_t bits_of(const unsigned char *number, size_t width)
{
    uint32_t four;
    uint64_t eight;

    if (width == 8)
        return memcpy(&eight, number, sizeof eight), eight;
    if (width == 4)
        return memcpy(&four, number, sizeof four), four;
    return *number;
}

void wire_numbers(struct wire *w, unsigned field, const void *numbers, size_t width, size_t count)
{
    varint(w, field << 3 | LENGTH_DELIMITED);
    varint(w, (uint64_t)width * count);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = bits_of((const unsigned char *)numbers + i * width, width);
        unsigned char bytes[8];
        for (size_t k = 0; k < width; k++)
            bytes[k] = (unsigned char)(bits >> 8 * k);
        append(w, bytes, width);
    }
}

void wire_text(struct wire *w, unsigned field, const char *text)
{
    wire_bytes(w, field, text, strlen(text));
}

void wire_message(struct wire *w, unsigned field, struct wire *message)
{
    w->failed = w->failed || message->failed;
    wire_bytes(w, field, message->bytes, message->length);
    wire_free(message);
}

void wire_join(struct wire *w, struct wire *message)
{
    w->failed = w->failed || message->failed;
    append(w, message->bytes, message->length);
    wire_free(message);
}

void wire_free(struct wire *w)
{
    free(w->bytes);
    *w = (struct wire){ 0 };
}
