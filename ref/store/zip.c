/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST
#include "zip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"

#define MAX16 0xFFFFu
#define MAX32 0xFFFFFFFFu

/* A fuzzer would have to guess them. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define CHECKSUMS 0
#else
#define CHECKSUMS 1
#endif

enum { LOCAL = 30, CENTRAL = 46, END = 22, LOCATOR = 20, END64 = 56 };    /* fixed parts of the records */
enum { ENCRYPTED = 1 << 0, DESCRIPTOR = 1 << 3, HIDDEN = 1 << 13 };       /* flags of a member */

/* ---- the end of the archive: where the directory is ---- */

static const char *no_archive(const unsigned char *b, size_t length, char error[SENTENCE])
{
    if (length == 0)
        return say(error, SENTENCE, "empty, wanted a ZIP archive");
    if (length >= 6 && memcmp(b, "\x93NUMPY", 6) == 0)
        return say(error, SENTENCE, "a single .npy array, wanted a ZIP archive of them (.npz)");
    if (length >= 4 && memcmp(b, "PK\3\4", 4) == 0)
        return say(error, SENTENCE, "a ZIP archive without its end: truncated, or followed by other bytes");
    return say(error, SENTENCE, "not a ZIP archive");
}

const char *zip_open(struct zip *z, const void *bytes, size_t length, char error[SENTENCE])
{
    const unsigned char *b = bytes;
    size_t end = length < END ? 0 : length - END, first = end > MAX16 ? end - MAX16 : 0;

    *z = (struct zip){ .bytes = b, .error = error };
    if (length < END)
        return no_archive(b, length, error);
    /* A comment of up to 64 KiB may follow; its length must fit what is there. */
    while (memcmp(b + end, "PK\5\6", 4) || end + END + get16(b + end + 20) != length) {
        if (end == first)
            return no_archive(b, length, error);
        end--;
    }

    unsigned disk = get16(b + end + 4);
    uint64_t count = get16(b + end + 10), size = get32(b + end + 12), at = get32(b + end + 16);
    /* Some writers (PyTorch's among them) put the ZIP64 records in where nothing needs them. */
    if (end >= LOCATOR && memcmp(b + end - LOCATOR, "PK\6\7", 4) == 0) {
        uint64_t record = get64(b + end - LOCATOR + 8);
        if (record > end - LOCATOR || end - LOCATOR - (size_t)record < END64 || memcmp(b + record, "PK\6\6", 4))
            return say(error, SENTENCE, "bad ZIP archive: no ZIP64 end record where the locator points to");
        end = (size_t)record;
        uint64_t count64 = get64(b + end + 32), size64 = get64(b + end + 40), at64 = get64(b + end + 48);
        if ((count != MAX16 && count != count64) || (size != MAX32 && size != size64) || (at != MAX32 && at != at64))
            return say(error, SENTENCE, "bad ZIP archive: its two end records contradict each other");
        count = count64;
        size = size64;
        at = at64;
    }
    if (disk != 0 && disk != MAX16)
        return say(error, SENTENCE, "one part of a split ZIP archive, wanted a whole one");
    if (at > end || size != end - at)
        return say(error, SENTENCE, "bad ZIP archive: the directory should lie at %llu to %llu and must end at %zu",
                   (unsigned long long)at, (unsigned long long)(at + size), end);
    z->directory = z->at = (size_t)at;
    z->end = end;
    z->left = count;
    return NULL;
}

/* ---- a member: the directory's record, held against the local header ---- */

/* Sizes (and the offset) that need more than 32 bits are in an extra field, in
 * this order, each only where the plain field says MAX32. */
static int wide(uint64_t *field[3], const unsigned char *extra, size_t length)
{
    int wanted = 0;

    for (int i = 0; i < 3; i++)
        wanted += field[i] && *field[i] == MAX32;
    if (!wanted)
        return 1;
    while (length >= 4) {
        size_t size = get16(extra + 2);
        if (size > length - 4)
            return 0;
        if (get16(extra) == 1) {
            for (int i = 0; i < 3; i++)
                if (field[i] && *field[i] == MAX32) {
                    if (size < 8)
                        return 0;
                    *field[i] = get64(extra + 4);
                    extra += 8;
                    size -= 8;
                }
            return 1;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return 0;
}

static const char *method_name(unsigned method)
{
    return method == 1 ? "shrunk" : method == 6 ? "imploded" : method == 9 ? "Deflate64" : method == 12 ? "bzip2"
         : method == 14 ? "LZMA" : method == 93 ? "Zstandard" : method == 95 ? "XZ" : method == 98 ? "PPMd" : "unknown";
}

static const char *local(struct zip_member *m, struct zip *z, uint64_t at, unsigned flags)
{
    size_t room = z->directory;

    if (at > room || room - (size_t)at < LOCAL || memcmp(z->bytes + at, "PK\3\4", 4))
        return say(z->error, SENTENCE, "%s: no local header at %llu", m->shown, (unsigned long long)at);
    const unsigned char *p = z->bytes + at;
    room -= (size_t)at + LOCAL;
    size_t name = get16(p + 26), extra = get16(p + 28);
    if (room < name + extra || room - name - extra < m->packed)
        return say(z->error, SENTENCE, "%s: its %zu bytes would run into the directory", m->shown, m->packed);
    if (name != m->name_length || memcmp(p + LOCAL, m->name, name)) {
        char other[SHOWN];
        return say(z->error, SENTENCE, "%s: named %s in its local header", m->shown, show_name(other, p + LOCAL, name));
    }
    uint64_t size = get32(p + 22), packed = get32(p + 18), *field[3] = { &size, &packed, NULL };
    if (get16(p + 8) != m->method || ((get16(p + 6) ^ flags) & (ENCRYPTED | DESCRIPTOR)))
        return say(z->error, SENTENCE, "%s: the local header contradicts the directory", m->shown);
    if (!(flags & DESCRIPTOR)) {
        if (!wide(field, p + LOCAL + name, extra))
            return say(z->error, SENTENCE, "%s: bad extra field in the local header", m->shown);
        if (size != m->size || packed != m->packed || get32(p + 14) != m->crc)
            return say(z->error, SENTENCE, "%s: %llu bytes by the local header, %zu by the directory, or another checksum",
                       m->shown, (unsigned long long)size, m->size);
    }
    m->data = p + LOCAL + name + extra;

    /* Members that share bytes could unpack to far more than the file holds. */
    z->taken += LOCAL + name + extra + m->packed;
    if (z->taken > z->directory)
        return say(z->error, SENTENCE, "%s: shares its bytes with another member", m->shown);
    return NULL;
}

const char *zip_next(struct zip_member *m, int *more, struct zip *z)
{
    const unsigned char *p = z->bytes + z->at;
    size_t room = z->end - z->at;

    *m = (struct zip_member){ 0 };
    *more = z->left > 0;
    if (!z->left)
        return room ? say(z->error, SENTENCE, "bad ZIP archive: the directory has more members than its end says") : NULL;
    if (room < CENTRAL || memcmp(p, "PK\1\2", 4))
        return say(z->error, SENTENCE, "bad ZIP archive: the directory breaks off with %llu members to come",
                   (unsigned long long)z->left);
    size_t name = get16(p + 28), extra = get16(p + 30), comment = get16(p + 32);
    if (room - CENTRAL < name + extra + comment)
        return say(z->error, SENTENCE, "bad ZIP archive: a member's name runs past the directory");
    z->at += CENTRAL + name + extra + comment;
    z->left--;

    unsigned flags = get16(p + 8);
    uint64_t size = get32(p + 24), packed = get32(p + 20), at = get32(p + 42), *field[3] = { &size, &packed, &at };
    m->name = p + CENTRAL;
    m->name_length = name;
    m->method = get16(p + 10);
    m->crc = get32(p + 16);
    m->proven = z->proven;
    show_name(m->shown, m->name, name);
    if (flags & (ENCRYPTED | HIDDEN))
        return say(z->error, SENTENCE, "%s: encrypted, wanted stored or deflated", m->shown);
    if (m->method != 0 && m->method != 8)
        return say(z->error, SENTENCE, "%s: compression method %u (%s), wanted stored or deflated",
                   m->shown, m->method, method_name(m->method));
    if (!wide(field, p + CENTRAL + name, extra))
        return say(z->error, SENTENCE, "%s: bad extra field in the directory", m->shown);
    if (packed > z->directory)
        return say(z->error, SENTENCE, "%s: %llu packed bytes in an archive of %zu", m->shown, (unsigned long long)packed, z->end);
    /* 258 bytes for 2 bits is the most that deflate can say. */
    if (m->method == 0 ? size != packed : size > packed * 1032)
        return say(z->error, SENTENCE, "%s: %llu bytes declared, which cannot come from %llu",
                   m->shown, (unsigned long long)size, (unsigned long long)packed);
    if (size > SIZE_MAX / 2)
        return say(z->error, SENTENCE, "%s: %llu bytes declared, too many for this machine", m->shown, (unsigned long long)size);
    m->packed = (size_t)packed;
    m->size = (size_t)size;
    return local(m, z, at, flags);
}

/* ---- unpacking ---- */

/* The most that deflate makes of n bytes: a length code of one bit, again and
 * again, gives 258 bytes each time. What declares more gets no more memory. */
static size_t most_inflated(size_t n)
{
    return n < (SIZE_MAX - 1024) / 1040 ? n * 1040 + 1024 : SIZE_MAX;
}

enum { MARGIN = 260 };

/* More than declared is asked for: one byte to see whether there is one, and a
 * margin within which zlib would copy byte by byte. All is offered at once,
 * which spares zlib a window of its own; only what is beyond its unsigned int
 * comes in pieces. */
static const char *inflate_all(unsigned char **bytes, z_stream *s, const struct zip_member *m, char error[SENTENCE])
{
    size_t most = most_inflated(m->packed), room = (m->size < most ? m->size : most) + MARGIN, got = 0, fed = 0;
    int status = Z_OK, all = room <= UINT_MAX && m->packed <= UINT_MAX;

    *bytes = malloc(room);
    if (!*bytes)
        return say(error, SENTENCE, "%s: not enough memory for its %zu bytes", m->shown, m->size);
    while (status == Z_OK) {
        size_t in = m->packed - fed, out = room - got;
        s->next_in = m->data + fed;
        s->avail_in = in < UINT_MAX ? (uInt)in : UINT_MAX;
        s->next_out = *bytes + got;
        s->avail_out = out < UINT_MAX ? (uInt)out : UINT_MAX;
        status = inflate(s, all ? Z_FINISH : Z_NO_FLUSH);
        fed = (size_t)(s->next_in - m->data);
        got = (size_t)(s->next_out - *bytes);
        if (got > m->size)
            return say(error, SENTENCE, "%s: inflates to more than the %zu bytes declared", m->shown, m->size);
    }
    if (status == Z_BUF_ERROR)
        return say(error, SENTENCE, "%s: deflated data breaks off after %zu of %zu bytes", m->shown, got, m->size);
    if (status != Z_STREAM_END)
        return say(error, SENTENCE, "%s: bad deflated data after %zu bytes (%s)", m->shown, got, s->msg ? s->msg : "zlib gave up");
    if (got != m->size)
        return say(error, SENTENCE, "%s: inflates to %zu bytes, %zu were declared", m->shown, got, m->size);
    if (fed != m->packed)
        return say(error, SENTENCE, "%s: %zu bytes follow the deflated data", m->shown, m->packed - fed);
    return NULL;
}

const char *zip_unpack(unsigned char **bytes, const struct zip_member *m, char error[SENTENCE])
{
    const char *wrong = NULL;

    *bytes = NULL;
    if (m->method == 0) {
        *bytes = malloc(m->size ? m->size : 1);
        if (!*bytes)
            return say(error, SENTENCE, "%s: not enough memory for its %zu bytes", m->shown, m->size);
        memcpy(*bytes, m->data, m->size);
    } else {
        z_stream s = { 0 };
        if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
            return say(error, SENTENCE, "%s: zlib cannot start", m->shown);
        wrong = inflate_all(bytes, &s, m, error);
        inflateEnd(&s);
    }
    if (!wrong && CHECKSUMS && !m->proven && crc32_z(0, *bytes, m->size) != m->crc)
        wrong = say(error, SENTENCE, "%s: fails its checksum", m->shown);
    if (wrong) {
        free(*bytes);
        *bytes = NULL;
    }
    return wrong;
}
