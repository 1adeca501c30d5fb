/* SPDX-License-Identifier: MIT */
/*
 * The ZIP container (APPNOTE 6.3): members stored or deflated.
 *
 * The reader goes by the central directory, as data descriptors leave the
 * local headers blank, and then holds the local header against it.
 */
#ifndef QKVEC_ZIP_H
#define QKVEC_ZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "text.h"

/* An archive in memory and how far its directory has been read. */
struct zip {
    const unsigned char *bytes;
    size_t directory, end, at;    /* where the directory begins, ends, and is being read */
    uint64_t left, taken;         /* members to come, bytes that those before claim */
    int proven;                   /* all bytes are known to be right; 0 unless the caller says so */
    char *error;                  /* of SENTENCE bytes */
};

struct zip_member {
    const unsigned char *name;    /* name_length bytes, as they are in the file */
    size_t name_length;
    char shown[SHOWN];            /* the same, safe to print */
    unsigned method;              /* 0 stored, 8 deflated */
    uint32_t crc;
    int proven;                   /* need not be held against it */
    size_t packed, size;          /* bytes in the archive, bytes declared */
    const unsigned char *data;
};

const char *zip_open(struct zip *z, const void *bytes, size_t length, char error[SENTENCE]);

/* The next member; *more is 0 after the last one. NULL, or what is wrong. */
const char *zip_next(struct zip_member *m, int *more, struct zip *z);

/* The bytes of a member, to free: exactly m->size of them, held against their checksum. */
const char *zip_unpack(unsigned char **bytes, const struct zip_member *m, char error[SENTENCE]);

/* Writing: members in order, then the directory. Every date is 1980-01-01, so
 * that the same members make the same bytes. The sizes of the whole must stay
 * below 4 GiB, which is the caller's business. */
struct zip_out {
    FILE *stream;
    uint32_t offset;              /* bytes written */
    unsigned count;
    unsigned char *directory;     /* grown member by member; to free */
    size_t used, room;
};

/* NULL, or what went wrong. A full disk shows in ferror(stream) at the latest. */
const char *zip_put(struct zip_out *z, const char *name, const unsigned char *bytes, size_t size);
void zip_finish(struct zip_out *z);

#endif
