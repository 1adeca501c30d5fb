/* SPDX-License-Identifier: MIT */
/*
 * Masks of a case. A kind fills the numbers that a mask adds, -inf for a key
 * that it closes; whether it is stored as bool is decided afterwards.
 *
 * Letters: r map (batch item and head, or item), i query, j key.
 */
#include <math.h>
#include <stdlib.h>

#include "plan.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

struct mask {
    uint64_t *state;
    size_t maps, L, S;          /* a padding mask has L = 1 */
    int grid;
    float *x;                   /* (maps,L,S), zeros at first */
};

#define EACH_ROW(m) FOR(r, (m)->maps) FOR(i, (m)->L)
#define EACH(m) EACH_ROW(m) FOR(j, (m)->S)
#define CELL(m) (m)->x[(r * (m)->L + i) * (m)->S + j]

static float small_number(struct mask *m)
{
    double x = 2 * draw_normal(m->state);

    return (float)(m->grid ? rint(x * 64) / 64 : x);
}

/* ---- kinds ---- */

/* Keys here and there; enough of them stay open, mostly. */
static void scattered(struct mask *m)
{
    double closed = draw_uniform(m->state) * 0.6;

    EACH(m) if (draw_chance(m->state, closed)) CELL(m) = -INFINITY;
}

static void added(struct mask *m)
{
    EACH(m) CELL(m) = small_number(m);
}

static void added_and_scattered(struct mask *m)
{
    added(m);
    scattered(m);
}

static void causal(struct mask *m)
{
    EACH(m) if (j > i) CELL(m) = -INFINITY;
}

/* As with a cache of past keys: the last query sees the last key, or another offset. */
static void causal_offset(struct mask *m)
{
    size_t offset = m->S > m->L && draw_chance(m->state, 0.5) ? m->S - m->L : draw_below(m->state, m->S + 1);

    EACH(m) if (j > i + offset) CELL(m) = -INFINITY;
}

/* Padding before the first token; each map has its own length. */
static void left(struct mask *m)
{
    FOR(r, m->maps) {
        size_t closed = draw_below(m->state, m->S + 1);
        FOR(i, m->L) FOR(j, closed) CELL(m) = -INFINITY;
    }
}

static void right(struct mask *m)
{
    FOR(r, m->maps) {
        size_t open = draw_below(m->state, m->S + 1);
        FOR(i, m->L) for (size_t j = open; j < m->S; j++) CELL(m) = -INFINITY;
    }
}

/* A sliding window over the diagonal; half of them are causal. */
static void window(struct mask *m)
{
    size_t before = draw_below(m->state, m->S + 1), after = draw_chance(m->state, 0.5) ? 0 : draw_below(m->state, m->S + 1);

    EACH(m) if (j + before < i || j > i + after) CELL(m) = -INFINITY;
}

/* Sequences that are packed into one: a query sees the keys of its own. */
static void blocks(struct mask *m)
{
    size_t length = 1 + draw_below(m->state, m->S ? m->S : 1);

    EACH(m) if (i / length != j / length) CELL(m) = -INFINITY;
}

/* Whole tiles of 8 to 128 keys closed on the left, on the right or in the middle. */
static void tiles(struct mask *m)
{
    size_t tile = (size_t)8 << draw_below(m->state, 5);

    while (tile > 1 && tile >= m->S)
        tile /= 2;
    size_t count = (m->S + tile - 1) / tile, first = 0, last = count;    /* tiles first to last - 1 are closed */
    switch (draw_below(m->state, 3)) {
    case 0: last = count ? draw_below(m->state, count) : 0; break;
    case 1: first = 1 + (count > 1 ? draw_below(m->state, count - 1) : 0); break;
    default: first = count > 2 ? 1 + draw_below(m->state, count - 2) : 0; last = first + (count > 2); break;
    }
    EACH(m) if (j / tile >= first && j / tile < last) CELL(m) = -INFINITY;
}

/* What many programs write instead of -inf, to a part of the keys or to all of a row. */
static void constant(struct mask *m)
{
    float low = draw_chance(m->state, 0.5) ? -1e4f : -100;
    double part = draw_chance(m->state, 0.5) ? 0.5 : 0;

    EACH_ROW(m) {
        int whole = draw_chance(m->state, 0.3);
        FOR(j, m->S) if (whole || draw_chance(m->state, part)) CELL(m) = low;
    }
}

/* Rows of which every number is about -1000: far from 0, near to each other. */
static void deep(struct mask *m)
{
    EACH_ROW(m) {
        float depth = draw_chance(m->state, 0.7) ? -1000 : 0;
        FOR(j, m->S) CELL(m) = depth + small_number(m);
    }
}

/* Attention with linear biases: a slope for each map. */
static void alibi(struct mask *m)
{
    FOR(r, m->maps) FOR(i, m->L) FOR(j, m->S)
        CELL(m) = -ldexpf((float)(i > j ? i - j : j - i), -(int)(1 + r % 8));
}

static const struct kind { const char *name; double attn, padding; void (*fill)(struct mask *m); } kinds[] = {
    { "none", 0.45, 0.50, NULL },
    { "scattered", 0.10, 0.12, scattered },
    { "added", 0.07, 0.07, added },
    { "added and scattered", 0.06, 0.06, added_and_scattered },
    { "causal", 0.08, 0, causal },
    { "causal with offset", 0.03, 0, causal_offset },
    { "left", 0.02, 0.06, left },
    { "right", 0.02, 0.07, right },
    { "window", 0.03, 0, window },
    { "blocks", 0.02, 0, blocks },
    { "tiles", 0.04, 0.06, tiles },
    { "-1e4 or -100", 0.03, 0.03, constant },
    { "rows about -1000", 0.03, 0.03, deep },
    { "alibi", 0.02, 0, alibi },
};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *plan_attn_name(size_t k)
{
    return k < KINDS ? kinds[k].name : NULL;
}

const char *plan_padding_name(size_t k)
{
    return plan_attn_name(k);
}

/* ---- a mask ---- */

/* All maps as the first: padding that all items share. */
static void share(struct mask *m)
{
    size_t map = m->L * m->S;

    for (size_t k = map; k < m->maps * map; k++)
        m->x[k] = m->x[k - map];
}

/* A row that may attend to nothing. */
static void close_row(struct mask *m)
{
    size_t row = draw_below(m->state, m->maps * m->L);

    FOR(j, m->S) m->x[row * m->S + j] = -INFINITY;
}

static int says_yes_or_no(const float *x, size_t count)
{
    FOR(k, count) if (x[k] != 0 && x[k] != -INFINITY) return 0;
    return 1;
}

/* shape: ndim sizes, the last of which is S. */
static const char *put_mask(struct plan *p, const char *name, int ndim, const size_t *shape, struct mask *m, const struct kind *kind)
{
    size_t count = m->maps * m->L * m->S;
    struct npz_array *a = npz_add(p->z, name, NPZ_F4, ndim, shape);

    if (!a)
        return p->z->error;
    m->x = a->data;
    kind->fill(m);
    if (count && draw_chance(m->state, 0.25))
        share(m);
    if (count && draw_chance(m->state, 0.03))
        close_row(m);
    if (draw_chance(m->state, 0.6) && says_yes_or_no(m->x, count)) {
        unsigned char *flags = calloc(count ? count : 1, 1);
        if (!flags)
            return "not enough memory for a mask";
        FOR(k, count) flags[k] = m->x[k] != 0;
        free(a->data);
        a->data = flags;
        a->type = NPZ_B1;
    }
    return NULL;
}

static const char *put_attn(struct plan *p, const struct kind *kind)
{
    int maps = draw_chance(&p->state, 0.4);
    struct mask m = { .state = &p->state, .maps = maps ? p->N * p->H : 1, .L = p->L, .S = p->S, .grid = p->grid };

    p->made->kinds[FUZZ_OPTIONS] |= maps ? FUZZ_MASK_3D : 0;
    return maps ? put_mask(p, "attn_mask", 3, (size_t[]){ m.maps, p->L, p->S }, &m, kind)
                : put_mask(p, "attn_mask", 2, (size_t[]){ p->L, p->S }, &m, kind);
}

static const char *put_padding(struct plan *p, const struct kind *kind)
{
    struct mask m = { .state = &p->state, .maps = p->N, .L = 1, .S = p->S, .grid = p->grid };

    return p->batched ? put_mask(p, "key_padding_mask", 2, (size_t[]){ p->N, p->S }, &m, kind)
                      : put_mask(p, "key_padding_mask", 1, (size_t[]){ p->S }, &m, kind);
}

int fuzz_is_causal(const struct npz *z)
{
    const struct npz_array *a = npz_get(z, "attn_mask");

    if (!a)
        return 0;
    size_t S = a->shape[a->ndim - 1], L = a->shape[a->ndim - 2];
    FOR(k, a->size) {
        double x = npz_value(a, k);
        int closed = a->type == NPZ_B1 ? x != 0 : x == -(double)INFINITY;
        if (closed != (k % S > k / S % L) || (!closed && x != 0))
            return 0;
    }
    return 1;
}

const char *plan_masks(struct plan *p)
{
    size_t attn = plan_kind(&p->state, &kinds[0].attn, sizeof *kinds, KINDS);
    size_t padding = plan_kind(&p->state, &kinds[0].padding, sizeof *kinds, KINDS);
    const char *error = kinds[attn].fill ? put_attn(p, &kinds[attn]) : NULL;

    if (!error && kinds[padding].fill)
        error = put_padding(p, &kinds[padding]);
    if (error)
        return error;
    p->made->kinds[FUZZ_ATTN_MASK] = 1u << attn;
    p->made->kinds[FUZZ_PADDING] = 1u << padding;
    int flag = kinds[attn].fill == causal && fuzz_is_causal(p->z) && draw_chance(&p->state, 0.8);
    struct npz_array *a = npz_add(p->z, "is_causal", NPZ_I8, 0, NULL);
    if (!a)
        return p->z->error;
    npz_set(a, 0, flag);
    p->made->kinds[FUZZ_OPTIONS] |= flag ? FUZZ_IS_CAUSAL : 0;
    return NULL;
}
