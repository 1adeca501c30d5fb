/* SPDX-License-Identifier: MIT */
/*
 * Kinds of numbers: a case of normal numbers is complete, and its kind changes some of them.
 *
 * Letters: n batch item, h head, i query, j key or row, c channel, m element of a whole array.
 */
#include <math.h>
#include <string.h>

#include "plan.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- arrays of a case ---- */

static struct npz_array *find(struct plan *p, const char *name)
{
    FOR(k, p->z->count) if (!strcmp(p->z->arrays[k].name, name)) return &p->z->arrays[k];
    return NULL;
}

/* The numbers of an array, none if there is no such array. */
struct part { float *x; size_t count; };

static struct part whole(struct plan *p, const char *name)
{
    struct npz_array *a = find(p, name);

    return a ? (struct part){ a->data, a->size } : (struct part){ NULL, 0 };
}

/* Third number which (0 of q, 1 of k, 2 of v) of in_proj_weight or in_proj_bias. */
static struct part third(struct plan *p, const char *name, size_t which)
{
    struct part all = whole(p, name);

    return (struct part){ all.x ? all.x + which * (all.count / 3) : NULL, all.count / 3 };
}

/* Row j of item n of query, key or value, which has T rows of C channels. */
static float *row(struct plan *p, const char *name, size_t T, size_t C, size_t n, size_t j)
{
    size_t at = !p->batched || p->batch_first ? n * T + j : j * p->N + n;

    return whole(p, name).x + at * C;
}

static void times(struct part part, float factor)
{
    FOR(m, part.count) part.x[m] *= factor;
}

static void positive(struct part part)
{
    FOR(m, part.count) part.x[m] = fabsf(part.x[m]);
}

/* ---- kinds ---- */

static void one_sign(struct plan *p)
{
    FOR(k, p->z->count) if (p->z->arrays[k].type == NPZ_F4) {
        const char *name = p->z->arrays[k].name;
        if (strcmp(name, "attn_mask") != 0 && strcmp(name, "key_padding_mask") != 0)
            positive(whole(p, name));
    }
}

static void scale_scores(struct plan *p, float factor)
{
    times(third(p, "in_proj_weight", 0), factor);
    times(third(p, "in_proj_bias", 0), factor);
    times(whole(p, "q_proj_weight"), factor);
}

/* Long sums of terms that are alike and of one sign. */
static void flat(struct plan *p)
{
    scale_scores(p, 0x1p-10f);
    positive(whole(p, "value"));
    positive(third(p, "in_proj_weight", 2));
    positive(whole(p, "v_proj_weight"));
    positive(third(p, "in_proj_bias", 2));
    positive(whole(p, "bias_v"));
    positive(whole(p, "out_proj.weight"));
}

/* Tokens from a vocabulary of 2 to 32: rows of key occur many times, and value
 * follows key. */
static void repeated(struct plan *p)
{
    size_t words = 2 + draw_below(&p->state, 31), E = p->E, Ek = p->Ek, Ev = p->Ev;
    int in_turn = draw_chance(&p->state, 0.5), same = Ek == Ev && draw_chance(&p->state, 0.5);
    int self = E == Ek && draw_chance(&p->state, 0.5);

    FOR(n, p->N) {
        FOR(j, p->S) {
            size_t word = in_turn ? j % words : draw_below(&p->state, words < j + 1 ? words : j + 1);
            float *key = row(p, "key", p->S, Ek, n, j), *value = row(p, "value", p->S, Ev, n, j);
            memmove(key, row(p, "key", p->S, Ek, n, word), Ek * sizeof *key);
            memmove(value, same ? key : row(p, "value", p->S, Ev, n, word), Ev * sizeof *value);
        }
        FOR(i, self && p->S ? p->L : 0)
            memcpy(row(p, "query", p->L, E, n, i), row(p, "key", p->S, Ek, n, i % p->S), E * sizeof(float));
    }
}

/* Scores hundreds apart: one key gets nearly all the weight. */
static void far_scores(struct plan *p)
{
    times(third(p, "in_proj_weight", 1), 64);
    times(whole(p, "k_proj_weight"), 64);
}

/* ---- NaN and infinity ---- */

struct masks { const struct npz_array *attn, *padding; };    /* NULL where there is none */

static int closes(const struct npz_array *a, size_t m)
{
    return a && (a->type == NPZ_B1 ? ((const unsigned char *)a->data)[m] != 0 : ((const float *)a->data)[m] == -INFINITY);
}

static int closed(const struct plan *p, const struct masks *masks, size_t n, size_t h, size_t i, size_t j)
{
    size_t map = masks->attn && masks->attn->ndim == 3 ? n * p->H + h : 0;

    return closes(masks->attn, (map * p->L + i) * p->S + j) || closes(masks->padding, n * p->S + j);
}

static int closed_for_all(const struct plan *p, const struct masks *masks, size_t n, size_t j)
{
    FOR(h, p->H) FOR(i, p->L) if (!closed(p, masks, n, h, i, j)) return 0;
    return 1;
}

/* A place where every kernel gives the answer of one policy. Rows without an
 * open key leave none: there the policies of rows and of hidden keys meet. A
 * key that some queries see and others do not leaves none either, as kernels
 * differ in what they read. */
enum place { NOWHERE, ANYWHERE, AT_CLOSED_KEY };

static enum place place_of(struct plan *p, size_t *n, size_t *j)
{
    struct masks masks = { npz_get(p->z, "attn_mask"), npz_get(p->z, "key_padding_mask") };
    size_t closed_somewhere = 0, first = p->N && p->S ? draw_below(&p->state, p->N * p->S) : 0;

    if (!p->N || !p->L || !p->S)
        return NOWHERE;
    FOR(b, p->N) FOR(h, p->H) FOR(i, p->L) {
        size_t count = 0;
        FOR(key, p->S) count += (size_t)closed(p, &masks, b, h, i, key);
        if (count == p->S)
            return NOWHERE;
        closed_somewhere += count;
    }
    if (!closed_somewhere)
        return ANYWHERE;
    FOR(k, p->N * p->S) {
        *n = (first + k) % (p->N * p->S) / p->S, *j = (first + k) % p->S;
        if (closed_for_all(p, &masks, *n, *j))
            return AT_CLOSED_KEY;
    }
    return NOWHERE;
}

/* In a key or a value that no query sees; otherwise NaN anywhere, or infinity in
 * a value where all weights of a row are equal: 0 times infinity is NaN, and
 * rounding decides whether a small weight is 0. */
static void put_special(struct plan *p, float x)
{
    size_t n, j, which = draw_below(&p->state, 3);
    enum place place = place_of(p, &n, &j);

    if (place == AT_CLOSED_KEY) {
        float *key = row(p, "key", p->S, p->Ek, n, j), *value = row(p, "value", p->S, p->Ev, n, j);
        *(which ? key + draw_below(&p->state, p->Ek) : value + draw_below(&p->state, p->Ev)) = x;
    } else if (place == ANYWHERE && isnan(x)) {
        struct part part = whole(p, (const char *const[]){ "query", "key", "value" }[which]);
        part.x[draw_below(&p->state, part.count)] = x;
    } else if (place == ANYWHERE && !find(p, "attn_mask") && !find(p, "key_padding_mask")) {
        struct part part = whole(p, "value");
        scale_scores(p, 0);
        part.x[draw_below(&p->state, part.count)] = x;
    }
}

static void nans(struct plan *p)
{
    put_special(p, NAN);
}

static void infinities(struct plan *p)
{
    put_special(p, draw_chance(&p->state, 0.5) ? INFINITY : -INFINITY);
}

/* ---- the table ---- */

#define REPEATED (0.04 * EQUAL_ROWS)

static const struct kind { const char *name; double share; void (*change)(struct plan *p); } kinds[] = {
    { "normal", 0.83 - REPEATED, NULL },
    { "one sign", 0.03, one_sign },
    { "flat, one sign", 0.04, flat },
    { "repeated rows", REPEATED, repeated },
    { "far scores", 0.04, far_scores },
    { "NaN", 0.04, nans },
    { "infinity", 0.02, infinities },
};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *plan_numbers_name(size_t k)
{
    return k < KINDS ? kinds[k].name : NULL;
}

void plan_numbers(struct plan *p, int finite)
{
    size_t kind = plan_kind(&p->state, &kinds[0].share, sizeof *kinds, KINDS);

    if (finite && (kinds[kind].change == nans || kinds[kind].change == infinities))
        kind = 0;
    if (kinds[kind].change)
        kinds[kind].change(p);
    p->made->kinds[FUZZ_NUMBERS] = 1u << kind;
}
