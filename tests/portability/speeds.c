/* SPDX-License-Identifier: MIT */
/* Prints a line for each of many layers: its sizes, and a hash over every bit
 * of every stage and of its sigma under every profile. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "envelope/envelope.h"

static uint64_t state = 1;

static double number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) * 0x1p-23 - 1;
}

static const double *numbers(size_t count)
{
    double *v = malloc(count * sizeof *v);

    if (!v)
        exit(2);
    for (size_t m = 0; m < count; m++)
        v[m] = number();
    return v;
}

static uint64_t add(uint64_t hash, const struct array t[STAGES])
{
    for (size_t k = 0; k < STAGES; k++)
        for (size_t m = 0; t[k].v && m < t[k].size; m++) {
            uint64_t bits;
            memcpy(&bits, &t[k].v[m], sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    return hash;
}

static void layer(size_t N, size_t L, size_t S, size_t H, size_t D)
{
    size_t E = H * D;
    struct mha_in in = { .N = N, .L = L, .S = S, .E = E, .Ek = E, .Ev = E, .H = H, .batched = 1, .batch_first = 1,
                         .add_zero_attn = S % 2 == 0 };
    struct array t[STAGES], sigma[STAGES];
    uint64_t hash = 14695981039346656037u;

    in.query = numbers(N * L * E), in.key = numbers(N * S * E), in.value = numbers(N * S * E);
    in.in_proj_weight = numbers(3 * E * E), in.in_proj_bias = numbers(3 * E);
    in.out_proj_weight = numbers(E * E), in.out_proj_bias = numbers(E);
    if (mha_alloc(t, &in) || mha_alloc(sigma, &in))
        exit(2);
    mha_forward(t, &in);
    hash = add(hash, t);
    for (int p = 0; p < PROFILES; p++) {
        if (envelope(sigma, t, &in, &profiles[p], SCOPE_LAYER))
            exit(2);
        hash = add(hash, sigma);
    }
    printf("N=%zu L=%zu S=%zu H=%zu D=%zu %016" PRIx64 "\n", N, L, S, H, D, hash);
    mha_free(t), mha_free(sigma);
    const double *const inputs[] = { in.query, in.key, in.value, in.in_proj_weight, in.in_proj_bias, in.out_proj_weight, in.out_proj_bias };
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
        free((void *)(uintptr_t)inputs[k]);
}

int main(void)
{
    for (size_t D = 1; D <= 20; D++)
        layer(1 + D % 2, 1 + D % 5, D, 1 + D % 3, D);    /* every tail of a strip */
    layer(1, 33, 65, 2, 32);
    return 0;
}
