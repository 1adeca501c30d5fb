/* SPDX-License-Identifier: MIT */
/* The blocks of SHA-256, by the processor's own instructions where it has them. */
#ifndef QKVEC_SHA256_BLOCK_H
#define QKVEC_SHA256_BLOCK_H

#include <stddef.h>
#include <stdint.h>

extern const uint32_t sha256_constant[64];    /* FIPS 180-4, 4.2.2 */

/* Whether sha256_blocks_x86() may be called here. */
int sha256_has_x86(void);

/* count blocks of 64 bytes into state. */
void sha256_blocks_x86(uint32_t state[8], const unsigned char *block, size_t count);

#endif
