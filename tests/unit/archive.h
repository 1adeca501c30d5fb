/* SPDX-License-Identifier: MIT */
/* Archives by hand, right or wrong in one chosen place, and files for a test. */
#ifndef QKVEC_TEST_ARCHIVE_H
#define QKVEC_TEST_ARCHIVE_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../../ref/store/bytes.h"
#include "../../ref/store/npz.h"

#ifndef QKVEC_TEST_DATA
#define QKVEC_TEST_DATA "tests/unit/data"    /* from the repository's root */
#endif

struct bytes {
    unsigned char *p;
    size_t n;
};

static inline void add_bytes(struct bytes *b, const void *p, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

/* An .npy of version 1.0: any dict, any numbers. */
static inline struct bytes npy_of(const char *dict, const void *data, size_t size)
{
    struct bytes b = { 0 };
    unsigned char length[2];

    put16(length, (unsigned)strlen(dict));
    add_bytes(&b, "\x93NUMPY\1\0", 8);
    add_bytes(&b, length, 2);
    add_bytes(&b, dict, strlen(dict));
    add_bytes(&b, data, size);
    return b;
}

/* A member as it shall stand in the archive; names may contain anything. */
struct part {
    const char *name;
    size_t name_length;      /* 0: up to its end */
    struct bytes content;    /* freed by archive_of */
    unsigned method;         /* 0 or 8 (in blocks that are not compressed: every zlib makes the same) */
};

struct archive {
    struct bytes b;
    size_t local[8], central[8], end;    /* where the records are, to spoil them */
};

static inline struct archive archive_of(const struct part *parts, size_t count)
{
    struct archive z = { 0 };
    struct bytes directory = { 0 };

    for (size_t k = 0; k < count; k++) {
        const struct part *part = &parts[k];
        size_t name = part->name_length ? part->name_length : strlen(part->name), packed = part->content.n;
        unsigned char head[46] = "PK\3\4", *data = part->content.p;
        if (part->method == 8) {
            data = malloc(packed + 64);
            z_stream s = { .next_in = part->content.p, .avail_in = (uInt)packed, .next_out = data, .avail_out = (uInt)packed + 64 };
            deflateInit2(&s, 0, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
            cr_assert_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
            packed = s.total_out;
            deflateEnd(&s);
        }
        put16(head + 4, 20);
        put16(head + 8, part->method);
        put32(head + 14, (uint32_t)crc32(0, part->content.p, (uInt)part->content.n));
        put32(head + 18, (uint32_t)packed);
        put32(head + 22, (uint32_t)part->content.n);
        put16(head + 26, (unsigned)name);
        z.local[k] = z.b.n;
        add_bytes(&z.b, head, 30);
        add_bytes(&z.b, part->name, name);
        add_bytes(&z.b, data, packed);
        z.central[k] = directory.n;
        memmove(head + 6, head + 4, 26);
        memcpy(head, "PK\1\2\24\0", 6);
        memset(head + 32, 0, 14);
        put32(head + 42, (uint32_t)z.local[k]);
        add_bytes(&directory, head, 46);
        add_bytes(&directory, part->name, name);
        if (data != part->content.p)
            free(data);
        free(part->content.p);
    }
    unsigned char end[22] = "PK\5\6";
    put16(end + 8, (unsigned)count);
    put16(end + 10, (unsigned)count);
    put32(end + 12, (uint32_t)directory.n);
    put32(end + 16, (uint32_t)z.b.n);
    for (size_t k = 0; k < count; k++)
        z.central[k] += z.b.n;
    add_bytes(&z.b, directory.p, directory.n);
    z.end = z.b.n;
    add_bytes(&z.b, end, 22);
    free(directory.p);
    return z;
}

/* One member "a", <f4 (2,) = 1, -2. */
static inline struct archive plain_archive(unsigned method)
{
    unsigned char numbers[8];

    put32(numbers, 0x3F800000);
    put32(numbers + 4, 0xC0000000);
    struct part part = { "a.npy", 0, npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", numbers, 8), method };
    return archive_of(&part, 1);
}

/* What the reader says about these bytes, "" where it takes them; to compare at once. */
static inline const char *verdict(char text[SENTENCE], const void *p, size_t n)
{
    struct npz z;
    const char *wrong = npz_read_memory(&z, p, n);

    snprintf(text, SENTENCE, "%s", wrong ? wrong : "");
    if (wrong) {
        cr_expect_eq(z.count, 0);
        cr_expect_null(z.arrays);
        cr_expect_eq(wrong, z.error);
    }
    npz_free(&z);
    return text;
}

/* A file of tests/unit/data. */
static inline const char *data_path(char path[1024], const char *name)
{
    snprintf(path, 1024, "%s/%s", QKVEC_TEST_DATA, name);
    return path;
}

#endif
