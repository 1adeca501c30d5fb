/* SPDX-License-Identifier: MIT */
#include "sha256.h"

#include "sha256_block.h"

#include <stdio.h>
#include <string.h>

static inline uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Word t of a block's 64, in the place of word t - 16, the oldest that is still needed. */
static inline uint32_t next_word(uint32_t w[16], int t)
{
    uint32_t x = w[(t + 1) % 16], y = w[(t + 14) % 16];
    uint32_t s0 = rotate(x, 7) ^ rotate(x, 18) ^ x >> 3, s1 = rotate(y, 17) ^ rotate(y, 19) ^ y >> 10;

    return w[t % 16] += s0 + w[(t + 9) % 16] + s1;
}

/* A round moves each of the eight on by one place. They stay where they are,
 * and the next round takes them by other names; after eight all are back. */
#define ROUND(a, b, c, d, e, f, g, h, t) \
    h += (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + sha256_constant[t] + ((t) < 16 ? w[(t) % 16] : next_word(w, t)); \
    d += h; \
    h += (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)))
#define EIGHT_ROUNDS(t) \
    ROUND(a, b, c, d, e, f, g, h, (t)); \
    ROUND(h, a, b, c, d, e, f, g, (t) + 1); \
    ROUND(g, h, a, b, c, d, e, f, (t) + 2); \
    ROUND(f, g, h, a, b, c, d, e, (t) + 3); \
    ROUND(e, f, g, h, a, b, c, d, (t) + 4); \
    ROUND(d, e, f, g, h, a, b, c, (t) + 5); \
    ROUND(c, d, e, f, g, h, a, b, (t) + 6); \
    ROUND(b, c, d, e, f, g, h, a, (t) + 7)

static void digest_block(uint32_t state[8], const unsigned char block[64])
{
    uint32_t w[16], a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16
             | (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    EIGHT_ROUNDS(0);
    EIGHT_ROUNDS(8);
    EIGHT_ROUNDS(16);
    EIGHT_ROUNDS(24);
    EIGHT_ROUNDS(32);
    EIGHT_ROUNDS(40);
    EIGHT_ROUNDS(48);
    EIGHT_ROUNDS(56);
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

/* count blocks, one behind the other. */
static void digest(struct sha256 *s, const unsigned char *block, size_t count)
{
    if (s->plain)
        for (; count > 0; count--, block += 64)
            digest_block(s->state, block);
    else
        sha256_blocks_x86(s->state, block, count);
}

void sha256_start(struct sha256 *s)
{
    *s = (struct sha256){ .plain = !sha256_has_x86(), .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *s, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;

    while (length) {
        size_t have = s->length % 64, take = 64 - have < length ? 64 - have : length;
        if (have == 0 && length >= 64) {
            take = length - length % 64;
            digest(s, from, take / 64);
        } else {
            memcpy(s->block + have, from, take);
            if (have + take == 64)
                digest(s, s->block, 1);
        }
        s->length += take;
        from += take;
        length -= take;
    }
}

void sha256_finish(struct sha256 *s, char hex[SHA256_HEX])
{
    static const unsigned char padding[64] = { 0x80 };
    uint64_t bits = s->length * 8;
    size_t have = s->length % 64;
    unsigned char tail[8];

    for (int k = 0; k < 8; k++)
        tail[k] = (unsigned char)(bits >> (56 - 8 * k));
    sha256_add(s, padding, have < 56 ? 56 - have : 120 - have);
    sha256_add(s, tail, 8);
    for (int k = 0; k < 32; k++)
        snprintf(hex + 2 * k, 3, "%02x", (unsigned)(s->state[k / 4] >> (24 - 8 * (k % 4)) & 0xff));
}

void sha256_of(char hex[SHA256_HEX], const void *bytes, size_t length)
{
    struct sha256 s;

    sha256_start(&s);
    sha256_add(&s, bytes, length);
    sha256_finish(&s, hex);
}
