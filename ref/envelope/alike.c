/* SPDX-License-Identifier: MIT */
/*
 * Letters: g group, m one of the things that are grouped, j row, e channel.
 */
#include "alike.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../recipe/two_speeds.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

enum { FEW = 24 };             /* so many things are compared each with each */

static const size_t NOBODY = SIZE_MAX;

size_t alike_slots(size_t n)
{
    size_t slots = 1;

    while (slots < 2 * n) slots *= 2;
    return slots;
}

/* From leader[] to the groups of two or more. room: (n) */
static void collect(struct groups *g, size_t *room, size_t n)
{
    size_t members = 0;

    g->count = 0;
    FOR(m, n) room[m] = 0;
    FOR(m, n) room[g->leader[m]]++;
    FOR(m, n) if (g->leader[m] == m && room[m] > 1) {
        size_t size = room[m];
        g->start[g->count++] = members;
        room[m] = members;                       /* where the next member goes */
        members += size;
    } else if (g->leader[m] == m) {
        room[m] = NOBODY;
    }
    g->start[g->count] = members;
    FOR(m, n) if (room[g->leader[m]] != NOBODY) {
        g->member[room[g->leader[m]]++] = m;
    }
}

static void nobody_alike(struct groups *g, size_t n)
{
    g->count = 0;
    g->start[0] = 0;
    FOR(m, n) g->leader[m] = m;
}

/* ---- channels ---- */

/* Ordered pairs of sizes (n) that are nearly equal; least: what a number has to reach. */
TWO_SPEEDS
static size_t pairs(const double *restrict size, const double *restrict least, size_t n)
{
    size_t found = 0;

    FOR(e, n) {
        double own = size[e], own_least = least[e];
        FOR(m, n) found += (size[m] >= own_least) & (least[m] <= own);
    }
    return found;
}

struct sized { double size; size_t at; };

static int ascending(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;

    if (x->size != y->size)
        return (x->size > y->size) - (x->size < y->size);
    return (x->at > y->at) - (x->at < y->at);
}

void alike_channels(struct groups *g, struct alike_room *room, const struct units *u, const double *x, size_t n)
{
    struct sized few[64], *order = n <= 64 ? few : malloc(n * sizeof *order);
    double *size = room->key, least[64];
    size_t squares = 0;

    nobody_alike(g, n);
    FOR(e, n) size[e] = finite_or_0(fabs(x[e]));
    if (n <= 64) FOR(e, n) least[e] = (1 - u->near) * size[e];
    if (!order || n < 4 || (n <= 64 && pairs(size, least, n) < 4 * n)) {
        if (order != few) free(order);
        return;
    }
    FOR(e, n) order[e] = (struct sized){ size[e], e };
    qsort(order, n, sizeof *order, ascending);
    for (size_t first = 0, last; first < n; first = last) {
        size_t leader = order[first].at;
        for (last = first + 1; last < n && nearly(u, order[last].size, order[first].size); last++)
            if (order[last].at < leader) leader = order[last].at;
        for (size_t m = first; m < last; m++) g->leader[order[m].at] = leader;
        squares += (last - first) * (last - first);
    }
    if (order != few)
        free(order);
    if (squares < 4 * n)
        nobody_alike(g, n);
    else
        collect(g, room->chain, n);
}

/* ---- a table of things by a key: those with equal keys are in one chain ---- */

static size_t slot_of(double key, size_t slots)
{
    uint64_t bits;

    key += 0.0;                                  /* -0 is 0 */
    memcpy(&bits, &key, sizeof bits);
    bits *= 0x9e3779b97f4a7c15u;
    return (size_t)(bits ^ bits >> 32) & (slots - 1);
}

static void table_clear(struct alike_room *room, size_t slots)
{
    FOR(k, slots) room->slot[k] = NOBODY;
}

static void table_add(struct alike_room *room, size_t slots, size_t m)
{
    size_t *slot = &room->slot[slot_of(room->key[m], slots)];

    room->chain[m] = *slot;
    *slot = m;
}

/* ---- rows ---- */

static int row_near(const double *a, const double *V, const double *b, size_t n)
{
    FOR(e, n) {
        double off = a[e] - b[e];
        if (!(off * off <= V[e])) return 0;
    }
    return 1;
}

/* Weights of the channels in the key of a row: no two alike. */
static double share(size_t e)
{
    double x = (double)(e + 1) * 0.6180339887498949;
    return 1 + x - floor(x);
}

/* Keys such that rows that are near to each other have keys that differ by 1 at most. */
static void row_keys(double *key, const double *x, const double *V, size_t rows, size_t n)
{
    double width = 0;

    FOR(j, rows) key[j] = 0;
    FOR(e, n) {
        double most = 0, weight = share(e);
        FOR(j, rows) {
            most = larger(most, V[j * n + e]);
            key[j] += weight * x[j * n + e];
        }
        width += weight * sqrt(most);
    }
    if (width > 0) FOR(j, rows) key[j] = floor(key[j] / (1.0001 * width));
}

/* The first leader that row j is near to. */
static size_t find_row(const struct groups *g, const struct alike_room *room, size_t slots, const double *x, const double *V, size_t j, size_t n)
{
    size_t best = j;

    for (int by = -1; by <= 1; by++) {
        double key = room->key[j] + by;
        for (size_t m = room->slot[slot_of(key, slots)]; m != NOBODY; m = room->chain[m])
            if (m < best && g->leader[m] == m && row_near(x + m * n, V + m * n, x + j * n, n)) best = m;
    }
    return best;
}

void alike_rows(struct groups *g, struct alike_room *room, const double *x, const double *V, size_t rows, size_t n)
{
    size_t slots = alike_slots(rows), found = 0;

    nobody_alike(g, rows);
    if (rows <= FEW) {
        FOR(j, rows) for (size_t m = 0; m < j && g->leader[j] == j; m++)
            if (g->leader[m] == m && row_near(x + m * n, V + m * n, x + j * n, n)) g->leader[j] = m, found++;
    } else {
        row_keys(room->key, x, V, rows, n);
        table_clear(room, slots);
        FOR(j, rows) {
            g->leader[j] = find_row(g, room, slots, x, V, j, n);
            if (g->leader[j] == j) table_add(room, slots, j);
            else found++;
        }
    }
    if (found)
        collect(g, room->chain, rows);
}

/* ---- scores ---- */

void alike_scores(struct groups *g, struct alike_room *room, const struct units *u, const double *s, size_t n)
{
    size_t slots = alike_slots(n), found = 0;
    double *key = room->key, per = 1 / u->same_score;

    nobody_alike(g, n);
    FOR(j, n) key[j] = rint(s[j] * per);
    if (n <= FEW) {
        FOR(j, n) for (size_t m = 0; m < j; m++)
            if (key[m] == key[j] && isfinite(key[j])) {
                g->leader[j] = m, found++;
                break;
            }
    } else {
        table_clear(room, slots);
        FOR(j, n) {
            size_t m = room->slot[slot_of(key[j], slots)];
            if (!isfinite(key[j])) continue;
            while (m != NOBODY && key[m] != key[j]) m = room->chain[m];
            if (m == NOBODY) table_add(room, slots, j);
            else g->leader[j] = m, found++;
        }
    }
    if (found)
        collect(g, room->chain, n);
}

/* ---- what follows from it ---- */

TWO_SPEEDS
static void member_add(double *restrict sum, double *restrict own, double a, const double *restrict w, const double *restrict middle, size_t n)
{
    FOR(e, n) {
        double error = a * (w[e] - middle[e]);
        sum[e] += error;
        own[e] += error * error;
    }
}

void alike_excess(double *excess, double *room, const struct groups *g, const double *a, const struct matrix *w, const double *middle)
{
    double *sum = room, *zeros = room + w->n;

    FOR(e, w->n) excess[e] = zeros[e] = 0;
    FOR(k, g->count) {
        FOR(e, w->n) sum[e] = 0;
        for (size_t at = g->start[k]; at < g->start[k + 1]; at++) {
            size_t j = g->member[at];
            if (a[j] != 0) member_add(sum, excess, a[j], w->w + j * w->stride, middle ? middle : zeros, w->n);
        }
        FOR(e, w->n) excess[e] -= sum[e] * sum[e];
    }
    FOR(e, w->n) excess[e] = larger(0, -excess[e]);
}
