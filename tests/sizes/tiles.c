/* SPDX-License-Identifier: MIT */
/* Letters: n item, h head, i query, j key, d channel of a head, c channel of an argument, x index, T size of a tile. */
#include "tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOR(i, count) for (int64_t i = 0; i < (count); i++)

const char *const tile_axes[TILE_AXES] = { "keys", "queries", "channels", "items", "heads" };
const char *const tile_kinds[TILE_KINDS] = {
    "the last of a rest", "the whole rest", "the first behind one tile", "the second tile", "the third tile", "all behind two tiles",
    "the last, of exactly one tile", "the last, of exactly two tiles", "a rest of one", "the last of a rest of T - 1",
};
const struct tile_mistake *tile_mistake;

int tile_victim(const struct tile_mistake *m, int64_t x, int64_t size)
{
    int64_t T = m->T, rest = size % T, last = x == size - 1;

    switch (m->kind) {
    case 0: return size > T && rest && last;
    case 1: return size > T && rest && x >= size - rest;
    case 2: return x == T;
    case 3: return size >= 2 * T && x / T == 1;
    case 4: return size >= 3 * T && x / T == 2;
    case 5: return x >= 2 * T;
    case 6: return size == T && last;
    case 7: return size == 2 * T && last;
    case 8: return size > T && rest == 1 && last;
    default: return size > T && rest == T - 1 && last;
    }
}

int tile_matters(const struct tile_mistake *m, int64_t size)
{
    FOR(x, size) if (tile_victim(m, x, size)) return 1;
    return 0;
}

static int victim(enum tile_axis axis, int64_t x, int64_t size)
{
    return tile_mistake && tile_mistake->axis == axis && tile_victim(tile_mistake, x, size);
}

/* y (rows,E) = x (rows,C) w^T + b */
static void linear(float *y, const float *x, const float *w, const float *b, int64_t rows, int64_t C, int64_t E)
{
    FOR(r, rows) FOR(e, E) {
        float sum = b ? b[e] : 0;
        FOR(c, C) sum += x[r * C + c] * w[e * C + c];
        y[r * E + e] = sum;
    }
}

static void project(float *q, float *k, float *v, const struct qkvec_call *a)
{
    int64_t N = a->N, L = a->L, S = a->S, Sx = a->Sx, E = a->E, Ek = a->Ek, Ev = a->Ev;
    const float *b = a->in_proj_bias;

    linear(q, a->query, a->q_weight, b, N * L, E, E);
    FOR(n, N) {
        linear(k + n * Sx * E, (const float *)a->key + n * S * Ek, a->k_weight, b ? b + E : NULL, S, Ek, E);
        linear(v + n * Sx * E, (const float *)a->value + n * S * Ev, a->v_weight, b ? b + 2 * E : NULL, S, Ev, E);
        if (a->bias_k) {
            memcpy(k + (n * Sx + S) * E, a->bias_k, (size_t)E * sizeof *k);
            memcpy(v + (n * Sx + S) * E, a->bias_v, (size_t)E * sizeof *v);
        }
    }
}

/* One query of one head: q (D), k and v (Sx,D) rows E apart, mask and p (Sx), out (D). */
static void attend(float *out, float *p, const float *q, const float *k, const float *v, const float *mask, const struct qkvec_call *a)
{
    int64_t Sx = a->Sx, E = a->E, D = E / a->H;
    float top = -INFINITY, total = 0;

    FOR(j, Sx) {
        float sum = 0;
        FOR(d, D) if (!victim(AXIS_CHANNELS, d, D)) sum += q[d] * k[j * E + d];
        p[j] = sum / sqrtf((float)D) + mask[j];
        if (p[j] > top)
            top = p[j];
    }
    FOR(j, Sx) total += p[j] = expf(p[j] - top);
    FOR(j, Sx) {
        p[j] /= total;
        if (!victim(AXIS_KEYS, j, Sx))
            FOR(d, D) out[d] += p[j] * v[j * E + d];
    }
}

int tiles_kernel(const struct qkvec_call *a)
{
    int64_t N = a->N, L = a->L, Sx = a->Sx, E = a->E, H = a->H, D = E / H;
    float *q = calloc((size_t)(2 * N * L * E + 2 * N * Sx * E + Sx) + 1, sizeof *q);
    float *k = q + N * L * E, *v = k + N * Sx * E, *mixed = v + N * Sx * E, *p = mixed + N * L * E;

    if (!q)
        return 2;
    project(q, k, v, a);
    FOR(n, N) FOR(h, H) FOR(i, L) {
        int64_t rows = victim(AXIS_ITEMS, n, N) ? 0 : n * Sx * E, from = victim(AXIS_HEADS, h, H) ? 0 : h * D;
        int64_t query = victim(AXIS_QUERIES, i, L) ? n * L : n * L + i;
        attend(mixed + (n * L + i) * E + h * D, p, q + query * E + h * D, k + rows + from, v + rows + from,
               (const float *)a->mask + ((n * H + h) * L + i) * Sx, a);
    }
    linear(a->output, mixed, a->out_weight, a->out_bias, N * L, E, E);
    *a->written = QKVEC_OUTPUT;
    free(q);
    return QKVEC_DONE;
}
