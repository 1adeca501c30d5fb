/* SPDX-License-Identifier: MIT */
/*
 * A case made smaller: one index of one axis less, everywhere at once.
 */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

int64_t fuzz_whole(const struct npz *z, const char *name)
{
    const struct npz_array *a = npz_get(z, name);

    return a && a->size == 1 ? (int64_t)npz_value(a, 0) : 0;
}

size_t fuzz_size(const struct npz *z)
{
    size_t sum = 0;

    FOR(k, z->count) if (z->arrays[k].ndim && z->arrays[k].type != NPZ_U1) sum += z->arrays[k].size;
    return sum;
}

/* The sizes of a case. */
struct sizes { size_t N, L, S, H, D, E, K, V; int batched, batch_first, separate; };

static struct sizes sizes_of(const struct npz *z)
{
    const struct npz_array *q = npz_get(z, "query"), *k = npz_get(z, "key");
    struct sizes s = { .H = (size_t)fuzz_whole(z, "num_heads"), .E = (size_t)fuzz_whole(z, "embed_dim") };

    s.K = (size_t)fuzz_whole(z, "kdim");
    s.V = (size_t)fuzz_whole(z, "vdim");
    s.D = s.H ? s.E / s.H : 0;
    s.batched = q->ndim == 3;
    s.batch_first = fuzz_whole(z, "batch_first") != 0;
    s.separate = npz_get(z, "in_proj_weight") == NULL;
    s.N = !s.batched ? 1 : q->shape[s.batch_first ? 0 : 1];
    s.L = q->shape[!s.batched || !s.batch_first ? 0 : 1];
    s.S = k->shape[!s.batched || !s.batch_first ? 0 : 1];
    return s;
}

size_t fuzz_extent(const struct npz *z, char axis)
{
    struct sizes s = sizes_of(z);

    switch (axis) {
    case 'N': return s.batched ? s.N : 0;
    case 'H': return s.H;
    case 'L': return s.L;
    case 'S': return s.S;
    case 'D': return s.D;
    case 'K': return s.separate && s.K != s.E ? s.K : 0;
    case 'V': return s.separate && s.V != s.E ? s.V : 0;
    default: return 0;
    }
}

/* What each axis of a member runs over: letters of the sizes, '3' for the rows
 * of q, k and v, 'P' for n*H+h, '1' for itself. */
static const char *axes_of(const char *name, int ndim, const struct sizes *s)
{
    static const struct { const char *name; int ndim; const char *axes; } fixed[] = {
        { "in_proj_weight", 2, "3E" }, { "q_proj_weight", 2, "EE" }, { "k_proj_weight", 2, "EK" },
        { "v_proj_weight", 2, "EV" }, { "in_proj_bias", 1, "3" }, { "out_proj.weight", 2, "EE" },
        { "out_proj.bias", 1, "E" }, { "bias_k", 3, "11E" }, { "bias_v", 3, "11E" }, { "attn_mask", 2, "LS" },
        { "attn_mask", 3, "PLS" }, { "key_padding_mask", 2, "NS" }, { "key_padding_mask", 1, "S" },
        { "query", 2, "LE" }, { "key", 2, "SK" }, { "value", 2, "SV" },
    };
    FOR(k, sizeof fixed / sizeof *fixed)
        if (!strcmp(fixed[k].name, name) && fixed[k].ndim == ndim)
            return fixed[k].axes;
    if (!strcmp(name, "query"))
        return s->batch_first ? "NLE" : "LNE";
    if (!strcmp(name, "key"))
        return s->batch_first ? "NSK" : "SNK";
    if (!strcmp(name, "value"))
        return s->batch_first ? "NSV" : "SNV";
    return NULL;
}

/* Index i of what a letter of a member stands for, without the index that is cut. */
static int kept(char letter, size_t i, char axis, size_t cut, const struct sizes *s)
{
    int channel = (axis == 'H' && i % s->E / s->D == cut) || (axis == 'D' && i % s->E % s->D == cut);

    switch (letter) {
    case 'E': case '3': return !channel;
    case 'K': return s->K == s->E && !(axis == 'K') ? !channel : !(axis == 'K' && i == cut);
    case 'V': return s->V == s->E && !(axis == 'V') ? !channel : !(axis == 'V' && i == cut);
    case 'P': return !(axis == 'N' && i / s->H == cut) && !(axis == 'H' && i % s->H == cut);
    default: return !(letter == axis && i == cut);
    }
}

static size_t count_kept(char letter, size_t n, char axis, size_t cut, const struct sizes *s)
{
    size_t count = 0;

    FOR(i, n) count += (size_t)kept(letter, i, axis, cut, s);
    return count;
}

static const char *copy_cut(struct npz *out, const struct npz_array *a, char axis, size_t cut, const struct sizes *s)
{
    const char *axes = a->ndim ? axes_of(a->name, a->ndim, s) : "";
    size_t shape[NPZ_DIMS] = { 1, 1, 1, 1 }, bytes = npz_type_size(a->type), at = 0;

    if (!axes)
        return "a member that no case has";
    for (int k = 0; k < a->ndim; k++)
        shape[k] = count_kept(axes[k], a->shape[k], axis, cut, s);
    struct npz_array *b = npz_add(out, a->name, a->type, a->ndim, shape);
    if (!b)
        return out->error;
    FOR(i, a->size) {
        size_t rest = i;
        int keep = 1;
        for (int k = a->ndim; k-- > 0; rest /= a->shape[k])
            keep = keep && kept(axes[k], rest % a->shape[k], axis, cut, s);
        if (keep)
            memcpy((char *)b->data + bytes * at++, (const char *)a->data + bytes * i, bytes);
    }
    return NULL;
}

static void set_whole(struct npz *z, const char *name, size_t value)
{
    FOR(k, z->count) if (!strcmp(z->arrays[k].name, name)) npz_set(&z->arrays[k], 0, (double)value);
}

const char *fuzz_cut(struct npz *out, const struct npz *z, char axis, size_t cut)
{
    struct sizes s = sizes_of(z);
    size_t E = count_kept('E', s.E, axis, cut, &s);
    const char *error = cut < fuzz_extent(z, axis) ? NULL : "no such index";

    *out = (struct npz){ 0 };
    if (!error && (!E || (axis == 'K' && s.K == 1) || (axis == 'V' && s.V == 1)))
        error = "embed_dim, kdim and vdim are at least 1";
    for (size_t k = 0; !error && k < z->count; k++)
        error = copy_cut(out, &z->arrays[k], axis, cut, &s);
    if (error) {
        npz_free(out);
        return error;
    }
    set_whole(out, "embed_dim", E);
    set_whole(out, "num_heads", axis == 'H' ? s.H - 1 : s.H);
    set_whole(out, "kdim", count_kept('K', s.K, axis, cut, &s));
    set_whole(out, "vdim", count_kept('V', s.V, axis, cut, &s));
    return NULL;
}
