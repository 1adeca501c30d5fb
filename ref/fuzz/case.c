/* SPDX-License-Identifier: MIT */
#include "case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- numbers ---- */

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static size_t below(uint64_t *state, size_t n)
{
    return (size_t)(next(state) >> 33) % n;
}

/* In [0, 1). */
static double uniform(uint64_t *state)
{
    return (double)(next(state) >> 11) * 0x1p-53;
}

static int chance(uint64_t *state, double probability)
{
    return uniform(state) < probability;
}

/* Nearly normal, mean 0, variance 1: the sum of eight numbers below 2^16. */
static double normal(uint64_t *state)
{
    uint64_t a = next(state), b = next(state), low = 0x0000FFFF0000FFFF;
    uint64_t pairs = (a & low) + (a >> 16 & low) + (b & low) + (b >> 16 & low);

    return ((double)((pairs & 0xFFFFFFFF) + (pairs >> 32)) - 262140) / 53510.0;
}

/* What the numbers of one array are like. */
struct manner { double scale, offset; int grid, constant, outlier; };

static float number(uint64_t *state, const struct manner *m)
{
    double x = m->offset + m->scale * normal(state);

    return (float)(m->grid ? rint(x * 64) / 64 : x);
}

/* ---- a case ---- */

struct plan {
    uint64_t state;
    size_t N, L, S, H, D, E, Ek, Ev;
    int batched, batch_first, separate, grid;
    struct npz *z;
};

static const char *put_whole(struct npz *z, const char *name, int64_t value)
{
    struct npz_array *a = npz_add(z, name, NPZ_I8, 0, NULL);

    if (!a)
        return z->error;
    memcpy(a->data, &value, sizeof value);
    return NULL;
}

/* An array of numbers; now and then of an odd kind. */
static const char *put(struct plan *p, const char *name, int ndim, size_t n0, size_t n1, size_t n2, double scale)
{
    size_t shape[3] = { n0, n1, n2 };
    struct npz_array *a = npz_add(p->z, name, NPZ_F4, ndim, shape);
    struct manner m = { .scale = scale, .grid = p->grid };
    double odd = uniform(&p->state);

    if (!a)
        return p->z->error;
    if (odd < 0.02)
        m.offset = 64;                  /* everything cancels but a little */
    else if (odd < 0.04)
        m.scale *= 0x1p-30, m.grid = 0;
    else if (odd < 0.06)
        m.constant = 1;
    else if (odd < 0.08)
        m.outlier = 1;
    else if (odd < 0.10)
        m.scale *= 8;
    m.grid = m.grid && m.scale > 0x1p-10;
    float *x = a->data, first = number(&p->state, &m);
    FOR(i, a->size) x[i] = m.constant ? first : number(&p->state, &m);
    if (m.outlier && a->size)
        npz_set(a, below(&p->state, a->size), 64 * scale);
    return NULL;
}

/* (N,T,C) as the layout wants it. */
static const char *put_rows(struct plan *p, const char *name, size_t T, size_t C)
{
    if (!p->batched)
        return put(p, name, 2, T, C, 1, 1);
    return p->batch_first ? put(p, name, 3, p->N, T, C, 1) : put(p, name, 3, T, p->N, C, 1);
}

enum mask_kind { NO_MASK, BOOL_MASK, FLOAT_MASK, INFINITE_MASK, CAUSAL_MASK };

/* Masks with enough keys left open, mostly; closed ones are what policies are for. */
static const char *put_mask(struct plan *p, const char *name, int ndim, size_t n0, size_t n1, size_t n2, enum mask_kind kind)
{
    size_t shape[3] = { n0, n1, n2 };
    int boolean = kind == BOOL_MASK || (kind == CAUSAL_MASK && chance(&p->state, 0.7));
    struct npz_array *a = npz_add(p->z, name, boolean ? NPZ_B1 : NPZ_F4, ndim, shape);
    struct manner m = { .scale = 2, .grid = p->grid };
    double closed = uniform(&p->state) * 0.6;

    if (!a)
        return p->z->error;
    FOR(i, a->size) {
        size_t j = i % p->S, row = i / p->S % (p->L ? p->L : 1);
        int hide = kind == CAUSAL_MASK ? j > row : kind != FLOAT_MASK && chance(&p->state, closed);
        float added = kind == CAUSAL_MASK ? 0 : number(&p->state, &m);
        npz_set(a, i, boolean ? hide : hide ? -INFINITY : (double)added);
    }
    return NULL;
}

static const char *put_masks(struct plan *p)
{
    enum mask_kind attn = (enum mask_kind)below(&p->state, 8), padding = (enum mask_kind)below(&p->state, 7);
    int wide = chance(&p->state, 0.4);
    const char *error = NULL;

    if (attn != NO_MASK && attn <= CAUSAL_MASK)
        error = wide ? put_mask(p, "attn_mask", 3, p->N * p->H, p->L, p->S, attn) : put_mask(p, "attn_mask", 2, p->L, p->S, 1, attn);
    if (!error && padding != NO_MASK && padding <= INFINITE_MASK)
        error = p->batched ? put_mask(p, "key_padding_mask", 2, p->N, p->S, 1, padding) : put_mask(p, "key_padding_mask", 1, p->S, 1, 1, padding);
    return error ? error : put_whole(p->z, "is_causal", attn == CAUSAL_MASK);
}

/* Mostly 1 to about most, with a bias to odd sizes; at times empty, at times long. */
static size_t size(uint64_t *state, size_t most, int empty, size_t tail)
{
    if (empty && chance(state, 0.01))
        return 0;
    if (tail && chance(state, 0.02))
        return most + below(state, tail);
    size_t n = 1 + below(state, most);
    return n % 2 == 0 && chance(state, 0.5) ? n - 1 : n;
}

static void plan_sizes(struct plan *p)
{
    uint64_t *s = &p->state;

    p->batched = !chance(s, 0.12);
    p->batch_first = chance(s, 0.5);
    p->grid = chance(s, 0.6);
    p->N = p->batched ? size(s, 3, 1, 0) : 1;
    p->H = size(s, 4, 0, 0);
    p->D = size(s, 7, 0, 30);
    p->L = size(s, 6, 1, 30);
    p->S = size(s, 8, 1, 62);
    p->E = p->Ek = p->Ev = p->H * p->D;
    p->separate = chance(s, 0.25);
    if (p->separate) {
        int which = (int)below(s, 3);
        if (which != 0)
            p->Ek = size(s, 11, 0, 0);
        if (which != 1)
            p->Ev = size(s, 11, 0, 0);
        p->separate = p->Ek != p->E || p->Ev != p->E;
    }
}

static const char *put_parameters(struct plan *p)
{
    size_t E = p->E;
    double spread = chance(&p->state, 0.1) ? 8 : 1;                /* logits: now and then large */
    double in = 1 / sqrt((double)E), key = spread * 1.5 / sqrt((double)p->Ek), value = 1 / sqrt((double)p->Ev);
    const char *error;

    if (!p->separate)
        error = put(p, "in_proj_weight", 2, 3 * E, E, 1, spread * 1.2 * in);
    else if (!(error = put(p, "q_proj_weight", 2, E, E, 1, 1.5 * in)) && !(error = put(p, "k_proj_weight", 2, E, p->Ek, 1, key)))
        error = put(p, "v_proj_weight", 2, E, p->Ev, 1, value);
    if (!error && chance(&p->state, 0.85) && !(error = put(p, "in_proj_bias", 1, 3 * E, 1, 1, 0.5)))
        error = put(p, "out_proj.bias", 1, E, 1, 1, 0.5);
    if (!error && chance(&p->state, 0.25) && !(error = put(p, "bias_k", 3, 1, 1, E, 1)))
        error = put(p, "bias_v", 3, 1, 1, E, 1);
    return error ? error : put(p, "out_proj.weight", 2, E, E, 1, 1.5 * in);
}

static const char *put_configuration(struct plan *p)
{
    const struct { const char *name; size_t value; } whole[] = {
        { "format", 1 }, { "embed_dim", p->E }, { "kdim", p->Ek }, { "vdim", p->Ev }, { "num_heads", p->H },
        { "batch_first", (size_t)p->batch_first }, { "add_zero_attn", (size_t)chance(&p->state, 0.25) },
    };
    const char *error = NULL;

    for (size_t k = 0; !error && k < sizeof whole / sizeof *whole; k++)
        error = put_whole(p->z, whole[k].name, (int64_t)whole[k].value);
    if (!error && !npz_add(p->z, "dropout", NPZ_F8, 0, NULL))
        error = p->z->error;
    return error;
}

const char *fuzz_case(struct npz *z, uint64_t number_of_case)
{
    struct plan p = { .state = number_of_case * 0xD1342543DE82EF95u + 1, .z = z };
    const char *error;

    *z = (struct npz){ 0 };
    plan_sizes(&p);
    if ((error = put_configuration(&p)) || (error = put_parameters(&p))
        || (error = put_rows(&p, "query", p.L, p.E)) || (error = put_rows(&p, "key", p.S, p.Ek))
        || (error = put_rows(&p, "value", p.S, p.Ev)))
        return error;
    return put_masks(&p);
}
