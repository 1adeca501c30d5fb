/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same on every machine: splitmix64. */
#ifndef QKVEC_FUZZ_DRAW_H
#define QKVEC_FUZZ_DRAW_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t draw_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* The state from which case number of a seed is drawn. Both are mixed, so that
 * the cases of two seeds have nothing in common. */
static inline uint64_t draw_start(uint64_t seed, uint64_t number)
{
    return draw_mix(draw_mix(seed + 0x9E3779B97F4A7C15u) + number * 0xD1342543DE82EF95u);
}

static inline uint64_t draw_word(uint64_t *state)
{
    return draw_mix(*state += 0x9E3779B97F4A7C15u);
}

/* 0 to n - 1 */
static inline size_t draw_below(uint64_t *state, size_t n)
{
    return (size_t)(draw_word(state) >> 33) % n;
}

/* In [0, 1). */
static inline double draw_uniform(uint64_t *state)
{
    return (double)(draw_word(state) >> 11) * 0x1p-53;
}

static inline int draw_chance(uint64_t *state, double probability)
{
    return draw_uniform(state) < probability;
}

/* Nearly normal, mean 0, variance 1: the sum of eight numbers below 2^16. */
static inline double draw_normal(uint64_t *state)
{
    uint64_t a = draw_word(state), b = draw_word(state), low = 0x0000FFFF0000FFFF;
    uint64_t pairs = (a & low) + (a >> 16 & low) + (b & low) + (b >> 16 & low);

    return ((double)((pairs & 0xFFFFFFFF) + (pairs >> 32)) - 262140) / 53510.0;
}

#endif
