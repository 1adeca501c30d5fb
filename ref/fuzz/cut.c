/* SPDX-License-Identifier: MIT */
/*
 * A case made smaller: fewer indices of one axis, in all of its arrays at once.
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

/* The indices that are cut: count from first on. */
struct cut { char axis; size_t first, count; };

static int within(const struct cut *cut, size_t i)
{
    return i - cut->first < cut->count;
}

/* Is index i of an axis with that letter left over? */
static int kept(char letter, size_t i, const struct cut *cut, const struct sizes *s)
{
    char axis = cut->axis;
    int channel = (axis == 'H' && within(cut, i % s->E / s->D)) || (axis == 'D' && within(cut, i % s->E % s->D));

    switch (letter) {
    case 'E': case '3': return !channel;
    case 'K': return s->K == s->E && !(axis == 'K') ? !channel : !(axis == 'K' && within(cut, i));
    case 'V': return s->V == s->E && !(axis == 'V') ? !channel : !(axis == 'V' && within(cut, i));
    case 'P': return !(axis == 'N' && within(cut, i / s->H)) && !(axis == 'H' && within(cut, i % s->H));
    default: return !(letter == axis && within(cut, i));
    }
}

static size_t count_kept(char letter, size_t n, const struct cut *cut, const struct sizes *s)
{
    size_t count = 0;

    FOR(i, n) count += (size_t)kept(letter, i, cut, s);
    return count;
}

/* Copy what is kept. keep: a flag for every index of each dimension, one dimension after the other. */
static void copy_kept(struct npz_array *b, const struct npz_array *a, const unsigned char *keep)
{
    size_t bytes = npz_type_size(a->type), at = 0, i[NPZ_DIMS] = { 0 };
    const unsigned char *flags[NPZ_DIMS] = { keep };

    for (int k = 1; k < a->ndim; k++)
        flags[k] = flags[k - 1] + a->shape[k - 1];
    FOR(m, a->size) {
        int all = 1;
        for (int k = 0; k < a->ndim; k++)
            all &= flags[k][i[k]];
        if (all)
            memcpy((char *)b->data + bytes * at++, (const char *)a->data + bytes * m, bytes);
        for (int k = a->ndim; k-- > 0 && ++i[k] == a->shape[k]; )
            i[k] = 0;
    }
}

static const char *copy_cut(struct npz *out, const struct npz_array *a, const struct cut *cut, const struct sizes *s)
{
    const char *axes = a->ndim ? axes_of(a->name, a->ndim, s) : "";
    size_t shape[NPZ_DIMS] = { 1, 1, 1, 1 }, indices = 1, at = 0;

    if (!axes)
        return "a member that no case has";
    for (int k = 0; k < a->ndim; k++) {
        shape[k] = count_kept(axes[k], a->shape[k], cut, s);
        indices += a->shape[k];
    }
    struct npz_array *b = npz_add(out, a->name, a->type, a->ndim, shape);
    unsigned char *keep = malloc(indices);
    if (!b || !keep) {
        free(keep);
        return "not enough memory for a smaller case";
    }
    for (int k = 0; k < a->ndim; k++)
        FOR(i, a->shape[k]) keep[at++] = (unsigned char)kept(axes[k], i, cut, s);
    copy_kept(b, a, keep);
    free(keep);
    return NULL;
}

static void set_whole(struct npz *z, const char *name, size_t value)
{
    FOR(k, z->count) if (!strcmp(z->arrays[k].name, name)) npz_set(&z->arrays[k], 0, (double)value);
}

const char *fuzz_cut(struct npz *out, const struct npz *z, char axis, size_t first, size_t count)
{
    struct sizes s = sizes_of(z);
    struct cut cut = { axis, first, count };
    size_t E = count_kept('E', s.E, &cut, &s), K = count_kept('K', s.K, &cut, &s), V = count_kept('V', s.V, &cut, &s);
    size_t extent = fuzz_extent(z, axis);
    const char *error = count && count <= extent && first <= extent - count ? NULL : "there are not so many indices";

    *out = (struct npz){ 0 };
    if (!error && (!E || !K || !V))
        error = "embed_dim, kdim and vdim are at least 1";
    for (size_t k = 0; !error && k < z->count; k++)
        error = copy_cut(out, &z->arrays[k], &cut, &s);
    if (error) {
        npz_free(out);
        return error;
    }
    set_whole(out, "embed_dim", E);
    set_whole(out, "num_heads", axis == 'H' ? s.H - count : s.H);
    set_whole(out, "kdim", K);
    set_whole(out, "vdim", V);
    return NULL;
}
