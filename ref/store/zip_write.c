/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST
#include "zip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"

enum { LOCAL = 30, CENTRAL = 46, END = 22 };
enum { VERSION = 20, DATE = 0x0021 };    /* deflate; 1980-01-01, the first day of ZIP */

/* Deflate into a new buffer. Returns 0 where that does not make it smaller or
 * zlib has no memory: then the member is stored. */
static size_t deflate_all(unsigned char **packed, const unsigned char *bytes, size_t size)
{
    z_stream s = { 0 };
    size_t done = 0;

    *packed = NULL;
    if (size < 2 || size > UINT_MAX || !(*packed = malloc(size - 1)))
        return 0;
    if (deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    s.next_in = bytes;
    s.avail_in = (uInt)size;
    s.next_out = *packed;
    s.avail_out = (uInt)(size - 1);
    if (deflate(&s, Z_FINISH) == Z_STREAM_END)
        done = (size_t)(s.next_out - *packed);
    deflateEnd(&s);
    return done;
}

/* What the local header and the directory say alike: 26 bytes from "version
 * needed" to the length of the (absent) extra field. */
static void describe(unsigned char *p, unsigned method, uint32_t crc, size_t packed, size_t size, size_t name)
{
    put16(p, VERSION);
    put16(p + 2, 0);
    put16(p + 4, method);
    put16(p + 6, 0);
    put16(p + 8, DATE);
    put32(p + 10, crc);
    put32(p + 14, (uint32_t)packed);
    put32(p + 18, (uint32_t)size);
    put16(p + 22, (unsigned)name);
    put16(p + 24, 0);
}

static void put(struct zip_out *z, const unsigned char *bytes, size_t size)
{
    fwrite(bytes, 1, size, z->stream);
    z->offset += (uint32_t)size;
}

const char *zip_put(struct zip_out *z, const char *name, const unsigned char *bytes, size_t size)
{
    unsigned char head[LOCAL] = "PK\3\4", *deflated, *entry;
    size_t length = strlen(name), record = CENTRAL + length;

    if (z->used + record > z->room) {
        size_t room = 2 * (z->used + record);
        unsigned char *larger = realloc(z->directory, room);
        if (!larger)
            return "not enough memory for the directory";
        z->directory = larger;
        z->room = room;
    }
    size_t packed = deflate_all(&deflated, bytes, size);
    unsigned method = packed ? 8 : 0;
    uint32_t crc = (uint32_t)crc32_z(0, bytes, size);
    if (!packed)
        packed = size;

    entry = z->directory + z->used;
    memset(entry, 0, CENTRAL);
    memcpy(entry, "PK\1\2", 4);
    put16(entry + 4, VERSION);
    describe(entry + 6, method, crc, packed, size, length);
    put32(entry + 42, z->offset);
    memcpy(entry + CENTRAL, name, length);
    z->used += record;
    z->count++;

    describe(head + 4, method, crc, packed, size, length);
    put(z, head, LOCAL);
    put(z, (const unsigned char *)name, length);
    put(z, method ? deflated : bytes, packed);
    free(deflated);
    return NULL;
}

void zip_finish(struct zip_out *z)
{
    unsigned char end[END] = "PK\5\6";
    uint32_t at = z->offset;

    if (z->used)
        put(z, z->directory, z->used);
    put16(end + 8, z->count);
    put16(end + 10, z->count);
    put32(end + 12, (uint32_t)z->used);
    put32(end + 16, at);
    put(z, end, END);
}
