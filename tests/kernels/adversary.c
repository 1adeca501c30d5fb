/* SPDX-License-Identifier: MIT */
/*
 * A case is drawn as any other (normal numbers, random shape, masks now and
 * then), and then its kind spoils it. All numbers are float32 numbers.
 *
 * Letters: n batch item, h head, i query row, j key row, e channel, d channel of
 * a head, m element of a whole array. u and v of a kind are small and large.
 */
#include "adversary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- numbers from a counter ---- */

struct draw { uint64_t state; };

static uint64_t word(struct draw *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 .. below - 1 */
static size_t whole(struct draw *r, size_t below)
{
    return (size_t)(word(r) % below);
}

static double uniform(struct draw *r)
{
    return (double)(word(r) >> 11) * 0x1p-53;
}

/* Twelve uniform numbers are normal enough, and the same on every machine. */
static double normal(struct draw *r)
{
    double y = -6;
    FOR(m, 12) y += uniform(r);
    return y;
}

/* ---- the arrays of a case, writable ---- */

struct made {
    struct draw r;
    size_t N, L, S, E, Ek, Ev, H, D;
    double *query, *key, *value;             /* (N,L,E) (N,S,Ek) (N,S,Ev) */
    double *w_q, *w_k, *w_v, *w_o;           /* (E,E) (E,Ek) (E,Ev) (E,E) */
    double *b, *b_o, *bias_k, *bias_v;       /* (3E) (E) (E) (E) */
    double *attn, *padding;                  /* float masks, or NULL */
};

static void fill(struct made *c, double *x, size_t count, double deviation)
{
    FOR(m, count) x[m] = normal(&c->r) * deviation;
}

static void times(double *x, size_t count, double by)
{
    FOR(m, count) x[m] *= by;
}

static void plus(double *x, size_t count, double by)
{
    FOR(m, count) x[m] += by;
}

/* All rows of width like the first. */
static void repeat(double *x, size_t rows, size_t width)
{
    FOR(m, rows * width) x[m] = x[m % width];
}

static double wild(struct made *c, double decades)
{
    return pow(10, (uniform(&c->r) * 2 - 1) * decades);
}

/* ---- kinds ---- */

static void plain(struct made *c)       { (void)c; }
static void flat(struct made *c)        { times(c->w_q, c->E * c->E, 1e-3); }
static void spread(struct made *c)      { times(c->w_q, c->E * c->E, 4); }
static void one_hot(struct made *c)     { times(c->w_q, c->E * c->E, 30); }
static void offset_keys(struct made *c) { plus(c->b + c->E, c->E, 1000); }
static void offset_values(struct made *c)  { plus(c->b + 2 * c->E, c->E, 1000); }
static void offset_queries(struct made *c) { plus(c->b, c->E, 100); }
static void large_biases(struct made *c)   { times(c->b, 3 * c->E, 50); times(c->b_o, c->E, 1000); }
static void equal_keys(struct made *c)  { repeat(c->key, c->N * c->S, c->Ek); }
static void equal_values(struct made *c)   { repeat(c->value, c->N * c->S, c->Ev); }

/* Each term has its opposite, the second half of a row. */
static void cancelling(struct made *c)
{
    FOR(e, c->E) FOR(m, c->E / 2) {
        size_t opposite = c->E / 2 + m;
        c->w_q[e * c->E + opposite] = -c->w_q[e * c->E + m];
        c->w_o[e * c->E + opposite] = -c->w_o[e * c->E + m];
    }
    FOR(t, c->N * c->L) FOR(m, c->E / 2)
        c->query[t * c->E + c->E / 2 + m] = c->query[t * c->E + m] * (1 + 0x1p-12 * normal(&c->r));
    times(c->query, c->N * c->L * c->E, 30);
}

/* Neighbours cancel. */
static void alternating(struct made *c)
{
    FOR(m, c->N * c->S * c->Ek) c->key[m] = (m % 2 ? -100 : 100) + c->key[m];
    FOR(m, c->E * c->Ek) if (m % 2) c->w_k[m] = c->w_k[m - 1];
    FOR(m, c->N * c->S * c->Ev) c->value[m] = (m % 2 ? -100 : 100) + c->value[m];
    FOR(m, c->E * c->Ev) if (m % 2) c->w_v[m] = c->w_v[m - 1];
}

static void outlier(struct made *c)
{
    c->query[whole(&c->r, c->N * c->L * c->E)] *= 300;
    c->key[whole(&c->r, c->N * c->S * c->Ek)] *= 300;
    c->value[whole(&c->r, c->N * c->S * c->Ev)] *= 1e4;
}

static void outlier_channel(struct made *c)
{
    size_t e = whole(&c->r, c->E);
    FOR(t, c->N * c->L) c->query[t * c->E + e] += 200;
    FOR(m, c->E) c->w_o[m * c->E + e] *= 100;
}

static void ties(struct made *c)
{
    FOR(t, c->N * c->S) FOR(e, c->Ek)
        c->key[t * c->Ek + e] = c->key[(t / c->S * c->S + t % c->S % 2) * c->Ek + e] * (1 + 0x1p-18 * (double)(t % 5));
    times(c->w_q, c->E * c->E, 3);
}

static void one_sign(struct made *c)
{
    FOR(m, c->N * c->L * c->E) c->query[m] = fabs(c->query[m]);
    FOR(m, c->N * c->S * c->Ek) c->key[m] = fabs(c->key[m]);
    FOR(m, c->N * c->S * c->Ev) c->value[m] = fabs(c->value[m]);
    FOR(m, c->E * c->E) c->w_q[m] = fabs(c->w_q[m]), c->w_o[m] = fabs(c->w_o[m]);
    FOR(m, c->E * c->Ek) c->w_k[m] = fabs(c->w_k[m]);
    FOR(m, c->E * c->Ev) c->w_v[m] = fabs(c->w_v[m]);
}

/* Every term of a sum is the same. */
static void constant_weights(struct made *c)
{
    double w = normal(&c->r) / sqrt((double)c->E);
    FOR(m, c->E * c->E) c->w_q[m] = w, c->w_o[m] = w * 1.3;
    FOR(m, c->E * c->Ek) c->w_k[m] = w * 0.7;
    FOR(m, c->E * c->Ev) c->w_v[m] = w * 1.1;
}

static void constant_inputs(struct made *c)
{
    FOR(m, c->N * c->L * c->E) c->query[m] = c->query[0];
    FOR(m, c->N * c->S * c->Ek) c->key[m] = c->key[0];
    FOR(m, c->N * c->S * c->Ev) c->value[m] = c->value[0];
}

static void decades(struct made *c)
{
    FOR(m, c->N * c->L * c->E) c->query[m] *= wild(c, 2);
    FOR(m, c->N * c->S * c->Ek) c->key[m] *= wild(c, 2);
    FOR(m, c->N * c->S * c->Ev) c->value[m] *= wild(c, 3);
    FOR(m, c->E * c->E) c->w_o[m] *= wild(c, 3);
}

static void tiny(struct made *c)
{
    times(c->value, c->N * c->S * c->Ev, 1e-30);
    times(c->b, 3 * c->E, 1e-15);
    times(c->b_o, c->E, 1e-30);
}

static void subnormal(struct made *c)
{
    times(c->query, c->N * c->L * c->E, 1e-20);
    times(c->key, c->N * c->S * c->Ek, 1e-20);
    times(c->value, c->N * c->S * c->Ev, 1e-38);
    times(c->b, 3 * c->E, 1e-39);
    times(c->b_o, c->E, 1e-40);
}

static void huge(struct made *c)
{
    times(c->value, c->N * c->S * c->Ev, 1e15);
    times(c->w_o, c->E * c->E, 1e10);
}

/* Each key scores more than those before it. */
static void rising(struct made *c)
{
    FOR(n, c->N) FOR(j, c->S) FOR(e, c->Ek)
        c->key[(n * c->S + j) * c->Ek + e] = c->key[n * c->S * c->Ek + e] * (double)(j + 1) * 8 / (double)c->S;
}

static void falling(struct made *c)
{
    FOR(n, c->N) FOR(j, c->S) FOR(e, c->Ek)
        c->key[(n * c->S + j) * c->Ek + e] = c->key[n * c->S * c->Ek + e] * (double)(c->S - j) * 8 / (double)c->S;
}

static void large_scores(struct made *c)
{
    plus(c->b, c->E, 10), plus(c->b + c->E, c->E, 10);
}

/* Adds to the masks that there are; a case of these kinds has both. */
static void masks(struct made *c)        { (void)c; }
static void large_masks(struct made *c)
{
    if (c->attn) FOR(m, c->L * c->S) c->attn[m] *= 20;
    if (c->padding) FOR(m, c->N * c->S) c->padding[m] *= 20;
}
static void offset_masks(struct made *c)
{
    if (c->attn) FOR(m, c->L * c->S) c->attn[m] += 1000;
    if (c->padding) FOR(m, c->N * c->S) c->padding[m] -= 1000;
}
static void offset_mask(struct made *c)
{
    if (c->attn) FOR(m, c->L * c->S) c->attn[m] -= 300;
}

static void large_bias_row(struct made *c)
{
    times(c->bias_k, c->E, 20), times(c->bias_v, c->E, 100);
}

/* Powers of two: values that rounding meets half way. */
static void half_way(struct made *c)
{
    FOR(m, c->N * c->S * c->Ev) c->value[m] = (double)(float)(1 + 0x1p-8 * (0.5 + (double)whole(&c->r, 4)));
    FOR(m, c->E * c->Ev) c->w_v[m] = m / c->Ev == m % c->Ev ? 1 : 0;
    times(c->b + 2 * c->E, c->E, 0);
}

static void same_everything(struct made *c)
{
    equal_keys(c), equal_values(c), repeat(c->query, c->N * c->L, c->E);
}

static void one_key_far(struct made *c)
{
    FOR(n, c->N) FOR(e, c->Ek) if (c->S) c->key[n * c->S * c->Ek + e] *= 12;
}

/* Rows e of the three weights, and of their biases, like row e % period; out_proj takes the mean. */
static void period(struct made *c, size_t period)
{
    FOR(e, c->E) {
        FOR(m, c->E) c->w_q[e * c->E + m] = c->w_q[e % period * c->E + m];
        FOR(m, c->Ek) c->w_k[e * c->Ek + m] = c->w_k[e % period * c->Ek + m];
        FOR(m, c->Ev) c->w_v[e * c->Ev + m] = c->w_v[e % period * c->Ev + m];
        FOR(k, 3) c->b[k * c->E + e] = c->b[k * c->E + e % period];
    }
    FOR(m, c->E * c->E) c->w_o[m] = 1 / (double)c->E;
}

static void equal_channels(struct made *c)  { period(c, 1); }
static void equal_heads(struct made *c)     { period(c, c->D); }

/* Equal channels again, of values that nearly cancel. */
static void equal_cancelling(struct made *c)
{
    FOR(m, c->E * c->Ev) c->w_v[m] = m % 2 ? -c->w_v[m / 2 * 2] * (1 + 0x1p-14 * uniform(&c->r)) : c->w_v[m];
    FOR(m, c->N * c->S * c->Ev) if (m % 2) c->value[m] = c->value[m - 1];
    times(c->b + 2 * c->E, c->E, 0);
    period(c, 1);
}

/* Row t of each item, of keys and of values, like row pick[t] of a pool of its first rows: tokens that occur
 * many times, without positions. Values then follow their keys. */
static void repeated_rows(struct made *c)
{
    size_t pool = 2 + whole(&c->r, 31);
    FOR(n, c->N) for (size_t j = pool; j < c->S; j++) {
        size_t from = n * c->S + whole(&c->r, pool), to = n * c->S + j;
        FOR(e, c->Ek) c->key[to * c->Ek + e] = c->key[from * c->Ek + e];
        FOR(e, c->Ev) c->value[to * c->Ev + e] = c->value[from * c->Ev + e];
    }
}

/* Two rows in turn, that differ in their sign: mixed with equal weights they cancel, term by term. */
static void opposite_rows(struct made *c)
{
    times(c->w_q, c->E * c->E, 1e-3);
    times(c->b + 2 * c->E, c->E, 0.01);
    FOR(n, c->N) FOR(j, c->S) {
        FOR(e, c->Ek) c->key[(n * c->S + j) * c->Ek + e] = (j % 2 ? -1 : 1) * c->key[n * c->S * c->Ek + e];
        FOR(e, c->Ev) c->value[(n * c->S + j) * c->Ev + e] = (j % 2 ? -1 : 1) * c->value[n * c->S * c->Ev + e];
    }
}

/* Queries whose channels have two values. */
static void two_valued(struct made *c)
{
    FOR(e, c->E) if (e > 1) {
        FOR(m, c->E) c->w_q[e * c->E + m] = c->w_q[e % 2 * c->E + m];
        c->b[e] = c->b[e % 2];
    }
}

static const struct kind {
    const char *name;
    void (*spoil)(struct made *c);
    int masks, rows;     /* always both float masks; always appended rows */
} kinds[] = {
    { "plain", plain, 0, 0 }, { "flat", flat, 0, 0 }, { "spread", spread, 0, 0 }, { "one_hot", one_hot, 0, 0 },
    { "offset_keys", offset_keys, 0, 0 }, { "offset_values", offset_values, 0, 0 }, { "offset_queries", offset_queries, 0, 0 },
    { "large_biases", large_biases, 0, 0 }, { "equal_keys", equal_keys, 0, 0 }, { "equal_values", equal_values, 0, 0 },
    { "cancelling", cancelling, 0, 0 }, { "alternating", alternating, 0, 0 }, { "outlier", outlier, 0, 0 },
    { "outlier_channel", outlier_channel, 0, 0 }, { "ties", ties, 0, 0 }, { "one_sign", one_sign, 0, 0 },
    { "constant_weights", constant_weights, 0, 0 }, { "constant_inputs", constant_inputs, 0, 0 }, { "decades", decades, 0, 0 },
    { "tiny", tiny, 0, 0 }, { "subnormal", subnormal, 0, 0 }, { "huge", huge, 0, 0 }, { "rising", rising, 0, 0 },
    { "falling", falling, 0, 0 }, { "large_scores", large_scores, 0, 0 }, { "masks", masks, 1, 0 },
    { "large_masks", large_masks, 1, 0 }, { "offset_masks", offset_masks, 1, 0 }, { "offset_mask", offset_mask, 1, 0 },
    { "large_bias_row", large_bias_row, 0, 1 }, { "half_way", half_way, 0, 0 }, { "same_everything", same_everything, 0, 0 },
    { "one_key_far", one_key_far, 0, 0 }, { "equal_channels", equal_channels, 0, 0 }, { "equal_heads", equal_heads, 0, 0 },
    { "equal_cancelling", equal_cancelling, 0, 0 }, { "repeated_rows", repeated_rows, 0, 0 },
    { "opposite_rows", opposite_rows, 0, 0 }, { "two_valued", two_valued, 0, 0 },
};

size_t adversary_kinds(void)
{
    return sizeof kinds / sizeof *kinds;
}

const char *adversary_kind(size_t kind)
{
    return kinds[kind].name;
}

/* ---- shapes ---- */

static void shape(struct made *c, enum adversary_size size)
{
    static const size_t large[][5] = {       /* N L S H D */
        { 1, 64, 512, 12, 64 }, { 1, 512, 96, 4, 32 }, { 1, 5, 4096, 2, 32 }, { 1, 33, 1025, 3, 20 }, { 2, 16, 128, 12, 64 },
    };
    struct draw *r = &c->r;

    if (size == ADVERSARY_LARGE) {
        const size_t *s = large[whole(r, sizeof large / sizeof *large)];
        c->N = s[0], c->L = s[1], c->S = s[2], c->H = s[3], c->D = s[4];
    } else if (size == ADVERSARY_MEDIUM) {
        c->N = 1 + whole(r, 2), c->L = 1 + whole(r, 12), c->S = 1 + whole(r, 200), c->H = 1 + whole(r, 4), c->D = 1 + whole(r, 40);
    } else {
        c->N = 1 + whole(r, 3), c->L = 1 + whole(r, 6), c->S = 1 + whole(r, 9), c->H = 1 + whole(r, 3), c->D = 1 + whole(r, 8);
    }
    c->E = c->H * c->D;
    c->Ek = whole(r, 4) ? c->E : 1 + whole(r, c->E + 4);
    c->Ev = whole(r, 4) ? c->E : 1 + whole(r, c->E + 4);
}

static double *cut(double **next, size_t count)
{
    double *at = *next;
    *next += count;
    return at;
}

const char *adversary_make(struct vector *v, size_t kind, enum adversary_size size, uint64_t seed)
{
    struct made c = { .r = { seed * 1000003 + kind * 1009 + (uint64_t)size } };

    shape(&c, size);
    size_t N = c.N, L = c.L, S = c.S, E = c.E, Ek = c.Ek, Ev = c.Ev;
    size_t count = N * (L * E + S * Ek + S * Ev) + E * (2 * E + Ek + Ev) + 6 * E + L * S + N * S;
    double *next = calloc(count, sizeof *next);
    unsigned char *flags = calloc(L * S + N * S, 1);

    *v = (struct vector){ .numbers = next, .count = count, .flags = flags };
    if (!next || !flags) {
        vector_free(v);
        return "not enough memory for a case";
    }
    snprintf(v->name, sizeof v->name, "%s/%d/%llu", kinds[kind].name, (int)size, (unsigned long long)seed);
    c.query = cut(&next, N * L * E), c.key = cut(&next, N * S * Ek), c.value = cut(&next, N * S * Ev);
    c.w_q = cut(&next, E * E), c.w_k = cut(&next, E * Ek), c.w_v = cut(&next, E * Ev), c.w_o = cut(&next, E * E);
    c.b = cut(&next, 3 * E), c.b_o = cut(&next, E), c.bias_k = cut(&next, E), c.bias_v = cut(&next, E);
    double *attn = cut(&next, L * S), *padding = cut(&next, N * S);

    fill(&c, c.query, N * L * E, 1), fill(&c, c.key, N * S * Ek, 1), fill(&c, c.value, N * S * Ev, 1);
    fill(&c, c.w_q, E * E, 1.5 / sqrt((double)E)), fill(&c, c.w_k, E * Ek, 1.5 / sqrt((double)Ek));
    fill(&c, c.w_v, E * Ev, 1 / sqrt((double)Ev)), fill(&c, c.w_o, E * E, 1 / sqrt((double)E));
    fill(&c, c.b, 3 * E, 0.5), fill(&c, c.b_o, E, 0.5), fill(&c, c.bias_k, E, 1), fill(&c, c.bias_v, E, 1);
    fill(&c, attn, L * S, 2), fill(&c, padding, N * S, 2);

    int attn_is = kinds[kind].masks ? 2 : (int)whole(&c.r, 4), padding_is = kinds[kind].masks ? 2 : (int)whole(&c.r, 4);
    int no_bias = whole(&c.r, 6) == 0, bias_kv = kinds[kind].rows || whole(&c.r, 5) == 0;
    FOR(i, L) FOR(j, S) flags[i * S + j] = (i + j) % S != 0 && whole(&c.r, 3) == 0;
    FOR(n, N) FOR(j, S) flags[L * S + n * S + j] = j > S / 2 && whole(&c.r, 2) == 0;
    c.attn = attn_is == 2 ? attn : NULL, c.padding = padding_is == 2 ? padding : NULL;
    kinds[kind].spoil(&c);
    FOR(m, count) v->numbers[m] = (double)(float)v->numbers[m];

    v->in = (struct mha_in){
        .N = N, .L = L, .S = S, .E = E, .Ek = Ek, .Ev = Ev, .H = c.H, .batched = 1, .batch_first = 1,
        .add_zero_attn = whole(&c.r, 5) == 0,
        .query = c.query, .key = c.key, .value = c.value,
        .q_proj_weight = c.w_q, .k_proj_weight = c.w_k, .v_proj_weight = c.w_v, .out_proj_weight = c.w_o,
        .in_proj_bias = no_bias ? NULL : c.b, .out_proj_bias = no_bias ? NULL : c.b_o,
        .bias_k = bias_kv ? c.bias_k : NULL, .bias_v = bias_kv ? c.bias_v : NULL,
    };
    if (attn_is == 1 || attn_is == 2)
        v->in.attn_mask = (struct mask){ 2, attn_is == 1 ? flags : NULL, attn_is == 2 ? attn : NULL };
    if (padding_is == 1 || padding_is == 2)
        v->in.key_padding_mask = (struct mask){ 2, padding_is == 1 ? flags + L * S : NULL, padding_is == 2 ? padding : NULL };
    return NULL;
}
