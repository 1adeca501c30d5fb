/* SPDX-License-Identifier: MIT */
/* Little-endian numbers in a file, on a machine of either byte order. */
#ifndef QKVEC_BYTES_H
#define QKVEC_BYTES_H

#include <stdint.h>

static inline uint16_t get16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get32(const unsigned char *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static inline uint64_t get64(const unsigned char *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static inline void put16(unsigned char *p, unsigned x)
{
    p[0] = (unsigned char)(x & 255);
    p[1] = (unsigned char)(x >> 8 & 255);
}

static inline void put32(unsigned char *p, uint32_t x)
{
    put16(p, x & 0xFFFF);
    put16(p + 2, x >> 16);
}

static inline void put64(unsigned char *p, uint64_t x)
{
    put32(p, (uint32_t)(x & 0xFFFFFFFF));
    put32(p + 4, (uint32_t)(x >> 32));
}

#endif
