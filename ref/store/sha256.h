/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4): whether a file is the one that was published. */
#ifndef QKVEC_SHA256_H
#define QKVEC_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX 65    /* 64 digits and the end of the text */

struct sha256 {
    uint32_t state[8];
    uint64_t length;             /* bytes so far */
    unsigned char block[64];     /* the last length % 64 of them */
    int plain;                   /* by plain C, although the processor may have instructions for it */
};

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t length);
void sha256_finish(struct sha256 *s, char hex[SHA256_HEX]);

/* Of bytes at once. */
void sha256_of(char hex[SHA256_HEX], const void *bytes, size_t length);

#endif
