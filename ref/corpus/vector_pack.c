/* SPDX-License-Identifier: MIT */
#include "vector.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "member.h"
#include "vector_check.h"

const char *vector_put_stages(struct npz *z, const char *prefix, const struct array t[STAGES])
{
    char name[NPZ_NAME];

    for (int k = 0; k < STAGES; k++) {
        if (!vector_keeps((enum mha_stage)k) || !t[k].v)
            continue;
        snprintf(name, sizeof name, "%s%s", prefix, t[k].name);
        struct npz_array *a = npz_add(z, name, NPZ_F8, t[k].ndim, t[k].shape);
        if (!a)
            return z->error;
        for (size_t i = 0; i < a->size; i++)
            npz_set(a, i, (double)t[k].v[i]);
    }
    return NULL;
}

static const char *put_numbers(struct npz *z, const struct member *m, int which, enum npz_type type, const real *x, const struct mha_in *in)
{
    size_t shape[NPZ_DIMS];
    int ndim = member_dims(shape, member_shape(m, in), which, in);
    struct npz_array *a = npz_add(z, m->name, type, ndim, shape);

    if (!a)
        return z->error;
    for (size_t i = 0; i < a->size; i++)
        npz_set(a, i, (double)x[i]);
    return NULL;
}

static const char *put_mask(struct npz *z, const struct member *m, const struct mask *mask, enum npz_type type, const struct mha_in *in)
{
    int which = mask->ndim == 3;    /* (L,S) comes before (N*H,L,S) */
    size_t shape[NPZ_DIMS];

    if (!mask->ndim)
        return NULL;
    if (!mask->masked)
        return put_numbers(z, m, which, type, mask->added, in);
    int ndim = member_dims(shape, member_shape(m, in), which, in);
    struct npz_array *a = npz_add(z, m->name, NPZ_B1, ndim, shape);
    if (!a)
        return z->error;
    if (a->size)
        memcpy(a->data, mask->masked, a->size);
    return NULL;
}

const char *vector_pack(struct npz *z, const struct mha_in *in, int is_causal, double dropout, enum npz_type type)
{
    const struct {
        const char *name;
        size_t value;
    } settings[] = {
        { "format", 1 }, { "embed_dim", in->E }, { "kdim", in->Ek }, { "vdim", in->Ev }, { "num_heads", in->H },
        { "batch_first", in->batch_first != 0 }, { "add_zero_attn", in->add_zero_attn != 0 }, { "is_causal", is_causal != 0 },
    };
    struct npz_array *a;
    const char *wrong;

    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        if (!(a = npz_add(z, settings[k].name, NPZ_I8, 0, NULL)))
            return z->error;
        *(int64_t *)a->data = (int64_t)settings[k].value;
    }
    if (!(a = npz_add(z, "dropout", NPZ_F8, 0, NULL)))
        return z->error;
    npz_set(a, 0, dropout);
    for (int k = 0; k < MEMBERS; k++) {
        const real *x = *(const real *const *)(const void *)((const char *)in + members[k].at);
        if (x && (wrong = put_numbers(z, &members[k], 0, type, x, in)))
            return wrong;
    }
    if ((wrong = put_mask(z, &attn_mask_member, &in->attn_mask, type, in)))
        return wrong;
    return put_mask(z, &key_padding_mask_member, &in->key_padding_mask, type, in);
}

const char *vector_put_text(struct npz *z, const char *member, const char *text)
{
    size_t length = strlen(text);
    struct npz_array *a = npz_add(z, member, NPZ_U1, 1, &length);

    if (!a)
        return z->error;
    memcpy(a->data, text, length);
    return NULL;
}
