/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "plan.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* What the numbers of one array are like. */
struct manner { double scale, offset; int grid, constant, outlier; };

static float number(uint64_t *state, const struct manner *m)
{
    double x = m->offset + m->scale * draw_normal(state);

    return (float)(m->grid ? rint(x * 64) / 64 : x);
}

/* ---- a case ---- */

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
    double odd = draw_uniform(&p->state);

    if (!a)
        return p->z->error;
    if (odd < 0.02)
        m.offset = 64;                  /* everything cancels but a little */
    else if (odd < 0.04)
        m.scale *= 0x1p-30, m.grid = 0;
    else if (odd < 0.06)
        m.constant = EQUAL_ROWS || p->made->kinds[FUZZ_SIZES] == 1;    /* small sizes */
    else if (odd < 0.08)
        m.outlier = 1;
    else if (odd < 0.10)
        m.scale *= 8;
    m.grid = m.grid && m.scale > 0x1p-10;
    float *x = a->data, first = number(&p->state, &m);
    FOR(i, a->size) x[i] = m.constant ? first : number(&p->state, &m);
    if (m.outlier && a->size)
        npz_set(a, draw_below(&p->state, a->size), 64 * scale);
    return NULL;
}

/* (N,T,C) as the layout wants it. */
static const char *put_rows(struct plan *p, const char *name, size_t T, size_t C)
{
    if (!p->batched)
        return put(p, name, 2, T, C, 1, 1);
    return p->batch_first ? put(p, name, 3, p->N, T, C, 1) : put(p, name, 3, T, p->N, C, 1);
}

static const char *put_parameters(struct plan *p)
{
    size_t E = p->E;
    double spread = draw_chance(&p->state, 0.1) ? 8 : 1;                /* logits: now and then large */
    double in = 1 / sqrt((double)E), key = spread * 1.5 / sqrt((double)p->Ek), value = 1 / sqrt((double)p->Ev);
    const char *error;

    if (p->Ek == E && p->Ev == E)
        error = put(p, "in_proj_weight", 2, 3 * E, E, 1, spread * 1.2 * in);
    else if (!(error = put(p, "q_proj_weight", 2, E, E, 1, 1.5 * in)) && !(error = put(p, "k_proj_weight", 2, E, p->Ek, 1, key)))
        error = put(p, "v_proj_weight", 2, E, p->Ev, 1, value);
    if (!error && draw_chance(&p->state, 0.85) && !(error = put(p, "in_proj_bias", 1, 3 * E, 1, 1, 0.5)))
        error = put(p, "out_proj.bias", 1, E, 1, 1, 0.5);
    if (!error && draw_chance(&p->state, 0.25) && !(error = put(p, "bias_k", 3, 1, 1, E, 1)))
        error = put(p, "bias_v", 3, 1, 1, E, 1);
    return error ? error : put(p, "out_proj.weight", 2, E, E, 1, 1.5 * in);
}

static const char *put_configuration(struct plan *p)
{
    const struct { const char *name; size_t value; } whole[] = {
        { "format", 1 }, { "embed_dim", p->E }, { "kdim", p->Ek }, { "vdim", p->Ev }, { "num_heads", p->H },
        { "batch_first", (size_t)p->batch_first }, { "add_zero_attn", (size_t)draw_chance(&p->state, 0.25) },
    };
    const char *error = NULL;

    for (size_t k = 0; !error && k < sizeof whole / sizeof *whole; k++)
        error = put_whole(p->z, whole[k].name, (int64_t)whole[k].value);
    if (!error && !npz_add(p->z, "dropout", NPZ_F8, 0, NULL))
        error = p->z->error;
    return error;
}

static unsigned options_of(const struct plan *p)
{
    const struct npz *z = p->z;
    unsigned options = 0;

    options |= npz_get(z, "in_proj_bias") ? 0 : FUZZ_NO_BIAS;
    options |= npz_get(z, "bias_k") ? FUZZ_BIAS_KV : 0;
    options |= fuzz_whole(z, "add_zero_attn") ? FUZZ_ZERO_ATTN : 0;
    options |= p->Ek != p->E || p->Ev != p->E ? FUZZ_KDIM_VDIM : 0;
    options |= p->batched ? 0 : FUZZ_UNBATCHED;
    options |= p->batched && p->batch_first ? FUZZ_BATCH_FIRST : 0;
    return options | (p->N && p->L && p->S ? 0 : FUZZ_EMPTY);
}

const char *fuzz_case(struct npz *z, struct fuzz_made *made, const struct fuzz_stream *stream, uint64_t number_of_case)
{
    struct fuzz_made ignored;
    struct plan p = { .state = draw_start(stream->seed, number_of_case), .z = z, .made = made ? made : &ignored };
    const char *error;

    *z = (struct npz){ 0 };
    *p.made = (struct fuzz_made){ { 0 } };
    plan_sizes(&p, stream->small);
    if ((error = put_configuration(&p)) || (error = put_parameters(&p))
        || (error = put_rows(&p, "query", p.L, p.E)) || (error = put_rows(&p, "key", p.S, p.Ek))
        || (error = put_rows(&p, "value", p.S, p.Ev)) || (error = plan_masks(&p)))
        return error;
    plan_numbers(&p, stream->finite);
    p.made->kinds[FUZZ_OPTIONS] |= options_of(&p);
    return NULL;
}
