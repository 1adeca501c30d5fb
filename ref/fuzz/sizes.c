/* SPDX-License-Identifier: MIT */
/*
 * Sizes of a case. Most cases are small, so that many can be judged; the rest
 * reaches where kernels have tiles, with a bound on the arithmetic of a case.
 */
#include <math.h>

#include "plan.h"

/* ---- one size ---- */

/* 1 to most, with a preference for odd sizes; empty: 0 in 1 % of all cases;
 * tail: most to most + tail - 1 in 2 %. */
static size_t small_size(uint64_t *state, size_t most, int empty, size_t tail)
{
    if (empty && draw_chance(state, 0.01))
        return 0;
    if (tail && draw_chance(state, 0.02))
        return most + draw_below(state, tail);
    size_t n = 1 + draw_below(state, most);
    return n % 2 == 0 && draw_chance(state, 0.5) ? n - 1 : n;
}

/* The largest power of two that is at most n. */
static size_t power_below(size_t n)
{
    size_t power = 1;

    while (2 * power <= n)
        power *= 2;
    return power;
}

/* From least to most, each factor of two as probable as any other. Half of all
 * sizes are where tiles end: a power of two or one beside it, or 5, 6 or 7
 * eighths of one (80, 96, 192). */
static size_t wide_size(uint64_t *state, size_t least, size_t most)
{
    double factor = (double)most / (double)least;
    size_t n = (size_t)((double)least * exp2(log2(factor + 1) * draw_uniform(state))), tile = power_below(n);
    double end = draw_uniform(state);

    if (end < 0.2)
        n = tile;
    else if (end < 0.4)
        n = draw_chance(state, 0.5) ? tile + 1 : tile - 1;
    else if (end < 0.5 && tile >= 4)
        n = n / (tile / 4) * (tile / 4);
    return n < least ? least : n > most ? most : n;
}

/* ---- kinds of sizes ---- */

static void small(struct plan *p)
{
    uint64_t *s = &p->state;

    p->N = small_size(s, 3, 1, 0);
    p->H = small_size(s, 4, 0, 0);
    p->D = small_size(s, 7, 0, 30);
    p->L = small_size(s, 6, 1, 30);
    p->S = small_size(s, 8, 1, 62);
}

/* Multiplications of the layer, and as many again for the softmax of a score as for 8 channels. */
static double work(const struct plan *p)
{
    double N = (double)p->N, L = (double)p->L, S = (double)p->S, H = (double)p->H, E = (double)(p->H * p->D);

    return 2 * N * (L + S) * E * E + N * L * S * (2 * E + 8 * H);
}

/* Draw axes again, below what they are, until the work of a case is bounded. */
static void bound_work(struct plan *p, double most)
{
    size_t *const axes[] = { &p->N, &p->H, &p->D, &p->L, &p->S };

    while (work(p) > most) {
        size_t *axis = axes[draw_below(&p->state, sizeof axes / sizeof *axes)];
        *axis = wide_size(&p->state, 1, *axis);
    }
}

/* Every axis may be large, and several of them at once. */
static void wide(struct plan *p)
{
    uint64_t *s = &p->state;

    p->N = wide_size(s, 1, 9);
    p->H = wide_size(s, 1, 16);
    p->D = wide_size(s, 1, 256);
    p->L = wide_size(s, 1, 1024);
    p->S = wide_size(s, 1, 1024);
    bound_work(p, 0x1p20);
}

/* Many queries and many keys together, in few and narrow heads. */
static void many_scores(struct plan *p)
{
    uint64_t *s = &p->state;

    p->N = wide_size(s, 1, 2);
    p->H = wide_size(s, 1, 3);
    p->D = wide_size(s, 1, 8);
    p->L = wide_size(s, 64, 1024);
    p->S = draw_chance(s, 0.3) ? p->L : wide_size(s, 64, 1024);
    while (work(p) > 0x1p23)
        *(p->D > 1 ? &p->D : p->H > 1 ? &p->H : &p->N) -= 1;
}

/* One query and many keys, as where a decoder writes the next token. */
static void decode(struct plan *p)
{
    uint64_t *s = &p->state;

    p->N = wide_size(s, 1, 4);
    p->H = wide_size(s, 1, 8);
    p->D = wide_size(s, 1, 64);
    p->L = 1;
    p->S = wide_size(s, 16, 1024);
    bound_work(p, 0x1p20);
}

static const struct kind { const char *name; double share; void (*draw)(struct plan *p); } kinds[] = {
    { "small", 0.900, small },
    { "wide", 0.075, wide },
    { "decode", 0.020, decode },
    { "many scores", 0.005, many_scores },
};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *plan_size_name(size_t k)
{
    return k < KINDS ? kinds[k].name : NULL;
}

void plan_sizes(struct plan *p, int only_small)
{
    uint64_t *s = &p->state;
    size_t kind = only_small ? 0 : plan_kind(s, &kinds[0].share, sizeof *kinds, KINDS), most = kind ? 300 : 11;

    p->batched = !draw_chance(s, 0.12);
    p->batch_first = draw_chance(s, 0.5);
    p->grid = draw_chance(s, 0.6);
    kinds[kind].draw(p);
    p->made->kinds[FUZZ_SIZES] = 1u << kind;
    if (!p->batched)
        p->N = 1;
    p->E = p->Ek = p->Ev = p->H * p->D;
    if (draw_chance(s, 0.25)) {
        int which = (int)draw_below(s, 3);
        if (which != 0)
            p->Ek = kind ? wide_size(s, 1, most) : small_size(s, most, 0, 0);
        if (which != 1)
            p->Ev = kind ? wide_size(s, 1, most) : small_size(s, most, 0, 0);
    }
}
