/* SPDX-License-Identifier: MIT */
/*
 * The order of the checks is the order in which the letters become known:
 * E, Ek, Ev, H from the configuration, N and L from query, S from key.
 */
#include "vector_check.h"

#include <stdint.h>

#include "member.h"

/* ---- configuration ---- */

static const char *scalar(const struct npz_array **a, struct vector *v, const char *name, enum npz_type type)
{
    char shape[128];

    *a = npz_get(&v->file, name);
    if (!*a)
        return WRONG(v, "%s: missing, wanted %s of shape ()", name, npz_type_name(type));
    if ((*a)->type != type || (*a)->ndim != 0)
        return WRONG(v, "%s: found %s of shape %s, wanted %s of shape ()", name, npz_type_name((*a)->type),
                     npz_shape_text(shape, *a), npz_type_name(type));
    return NULL;
}

static const char *whole(size_t *x, struct vector *v, const char *name, int least, int most)
{
    const struct npz_array *a;
    const char *wrong = scalar(&a, v, name, NPZ_I8);
    int64_t found;

    if (wrong)
        return wrong;
    found = *(const int64_t *)a->data;
    if (found < least || found > most)
        return WRONG(v, most == 1 && least == 0 ? "%s: found %lld, wanted 0 or 1"
                        : most == 1 ? "%s: found %lld, wanted 1, the only format there is"
                                    : "%s: found %lld, wanted %d to %d", name, (long long)found, least, most);
    *x = (size_t)found;
    return NULL;
}

static const char *configuration(struct vector *v)
{
    struct mha_in *in = &v->in;
    size_t format, batch_first, add_zero_attn, is_causal;
    const int most = (int)VECTOR_NUMBERS;
    const struct npz_array *a;
    const char *wrong;

    if ((wrong = whole(&format, v, "format", 1, 1))
     || (wrong = whole(&in->E, v, "embed_dim", 1, most))
     || (wrong = whole(&in->Ek, v, "kdim", 1, most))
     || (wrong = whole(&in->Ev, v, "vdim", 1, most))
     || (wrong = whole(&in->H, v, "num_heads", 1, most))
     || (wrong = whole(&batch_first, v, "batch_first", 0, 1))
     || (wrong = whole(&add_zero_attn, v, "add_zero_attn", 0, 1))
     || (wrong = whole(&is_causal, v, "is_causal", 0, 1))
     || (wrong = scalar(&a, v, "dropout", NPZ_F8)))
        return wrong;
    if (in->E % in->H)
        return WRONG(v, "num_heads: found %zu, which does not divide embed_dim = %zu", in->H, in->E);
    v->dropout = npz_value(a, 0);
    if (!(v->dropout >= 0 && v->dropout <= 1))
        return WRONG(v, "dropout: found %g, wanted 0 to 1", v->dropout);
    in->batch_first = (int)batch_first;
    in->add_zero_attn = (int)add_zero_attn;
    v->is_causal = (int)is_causal;
    if (is_causal && !npz_get(&v->file, "attn_mask"))
        return WRONG(v, "is_causal: found 1 without attn_mask; it is a hint about the mask and no mask");
    return NULL;
}

/* ---- which members there must be ---- */

static int has(const struct vector *v, const char *name)
{
    return npz_get(&v->file, name) != NULL;
}

static const char *both_or_none(struct vector *v, const char *one, const char *other)
{
    if (has(v, one) == has(v, other))
        return NULL;
    return WRONG(v, "%s: missing, although there is %s; wanted both or none", has(v, one) ? other : one, has(v, one) ? one : other);
}

static const char *presence(struct vector *v)
{
    static const char *const always[] = { "query", "key", "value", "out_proj.weight" };
    static const char *const separate[] = { "q_proj_weight", "k_proj_weight", "v_proj_weight" };
    const struct mha_in *in = &v->in;
    const char *found = NULL, *missing = NULL, *wrong;
    int packed = has(v, "in_proj_weight");

    for (size_t k = 0; k < sizeof always / sizeof *always; k++)
        if (!has(v, always[k]))
            return WRONG(v, "%s: missing", always[k]);
    for (int k = 2; k >= 0; k--)
        *(has(v, separate[k]) ? &found : &missing) = separate[k];
    if (packed && found)
        return WRONG(v, "in_proj_weight: found together with %s, wanted the packed weight or the three separate ones", found);
    if (packed && (in->Ek != in->E || in->Ev != in->E))
        return WRONG(v, "in_proj_weight: found with kdim = %zu, vdim = %zu and embed_dim = %zu, which are not equal; "
                        "wanted q_proj_weight, k_proj_weight, v_proj_weight", in->Ek, in->Ev, in->E);
    if (!packed && missing)
        return found ? WRONG(v, "%s: missing, although there is %s", missing, found)
                     : WRONG(v, "in_proj_weight: missing, and so are q_proj_weight, k_proj_weight, v_proj_weight");
    if ((wrong = both_or_none(v, "in_proj_bias", "out_proj.bias")) || (wrong = both_or_none(v, "bias_k", "bias_v")))
        return wrong;
    return NULL;
}

/* ---- shapes ---- */

static int is_float(const struct npz_array *a)
{
    return a->type == NPZ_F2 || a->type == NPZ_F4 || a->type == NPZ_F8;
}

/* N, L and S. Whether the rest of these shapes is right is for later. */
static const char *letters(struct vector *v)
{
    const struct npz_array *query = npz_get(&v->file, "query"), *key = npz_get(&v->file, "key"), *value = npz_get(&v->file, "value");
    struct mha_in *in = &v->in;
    char shape[128];

    if (query->ndim != 2 && query->ndim != 3)
        return WRONG(v, "query: found %s, wanted 3 dimensions, or 2 where it is unbatched", npz_shape_text(shape, query));
    for (int k = 0; k < 2; k++) {
        const struct npz_array *a = k ? value : key;
        if (a->ndim != query->ndim)
            return WRONG(v, "%s: found %s, wanted %d dimensions as query has", a->name, npz_shape_text(shape, a), query->ndim);
    }
    in->batched = query->ndim == 3;
    in->N = in->batched ? query->shape[in->batch_first ? 0 : 1] : 1;
    in->L = query->shape[in->batched && in->batch_first];
    in->S = key->shape[in->batched && in->batch_first];
    return NULL;
}

static const char *shape_of(struct vector *v, const struct npz_array *a, const struct member *m)
{
    const struct mha_in *in = &v->in;
    const char *wanted = member_shape(m, in);
    char found[128], text[200];

    if (member_fits(a, wanted, in))
        return NULL;
    return WRONG(v, "%s: found %s, wanted %s; %s%s", m->name, npz_shape_text(found, a), member_wanted(text, wanted, in), m->source,
                 (m == &attn_mask_member || m == &key_padding_mask_member) && (has(v, "bias_k") || in->add_zero_attn)
                     ? ", without the appended rows, which are never masked" : "");
}

static const char *check_numbers(struct vector *v, const struct member *m)
{
    const struct npz_array *a = npz_get(&v->file, m->name);

    if (!a)
        return NULL;
    if (!is_float(a))
        return WRONG(v, "%s: found %s, wanted <f4, <f8 or <f2", m->name, npz_type_name(a->type));
    return shape_of(v, a, m);
}

static const char *check_mask(struct vector *v, const struct member *m)
{
    const struct npz_array *a = npz_get(&v->file, m->name);

    if (!a)
        return NULL;
    if (a->type != NPZ_B1 && !is_float(a))
        return WRONG(v, "%s: found %s, wanted |b1 (true means masked) or a float type (which is added); "
                        "convert it to bool if it says yes or no", m->name, npz_type_name(a->type));
    return shape_of(v, a, m);
}

/* What mha_alloc() will make, counted in double, which does not overflow. An
 * empty size counts as 1: the loops around it still turn. */
static const char *work(struct vector *v)
{
    const struct mha_in *in = &v->in;
    double N = in->N ? (double)in->N : 1, L = in->L ? (double)in->L : 1, S = in->S ? (double)in->S : 1;
    double E = (double)in->E, Ek = (double)in->Ek, Ev = (double)in->Ev, H = (double)in->H;
    double Sx = S + has(v, "bias_k") + in->add_zero_attn;
    double count = N * L * 6 * E + N * S * (Ek + Ev + 2 * E) + N * Sx * 2 * E + 2 * E * (E + Ek + Ev) + 3 * E + E * E
                 + N * H * L * Sx * 4 + N * L * Sx
                 + L * Ev;                                                    /* the envelope's, besides as many as the stages have */

    if (count > (double)VECTOR_NUMBERS)
        return WRONG(v, "its stages would have %.0f numbers, wanted at most %zu", count, VECTOR_NUMBERS);
    return NULL;
}

const char *vector_check_inputs(struct vector *v)
{
    const char *wrong;

    if ((wrong = configuration(v)) || (wrong = presence(v)) || (wrong = letters(v)))
        return wrong;
    for (int k = 0; k < MEMBERS; k++)
        if ((wrong = check_numbers(v, &members[k])))
            return wrong;
    if ((wrong = check_mask(v, &attn_mask_member)) || (wrong = check_mask(v, &key_padding_mask_member)))
        return wrong;
    return work(v);
}
