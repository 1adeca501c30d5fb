/* SPDX-License-Identifier: MIT */
#include "member.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct mha_in, field)
#define ALWAYS(letters) { letters, letters, letters }

const struct member members[MEMBERS] = {
    { "query", FIELD(query), ARGUMENT, { "N,L,E", "L,N,E", "L,E" }, "E is embed_dim" },
    { "key", FIELD(key), ARGUMENT, { "N,S,Ek", "S,N,Ek", "S,Ek" }, "N is that of query, Ek is kdim" },
    { "value", FIELD(value), ARGUMENT, { "N,S,Ev", "S,N,Ev", "S,Ev" }, "N is that of query, S that of key, Ev is vdim" },
    { "in_proj_weight", FIELD(in_proj_weight), PARAMETER, ALWAYS("3E,E"), "E is embed_dim" },
    { "q_proj_weight", FIELD(q_proj_weight), PARAMETER, ALWAYS("E,E"), "E is embed_dim" },
    { "k_proj_weight", FIELD(k_proj_weight), PARAMETER, ALWAYS("E,Ek"), "E is embed_dim, Ek is kdim" },
    { "v_proj_weight", FIELD(v_proj_weight), PARAMETER, ALWAYS("E,Ev"), "E is embed_dim, Ev is vdim" },
    { "in_proj_bias", FIELD(in_proj_bias), PARAMETER, ALWAYS("3E"), "E is embed_dim" },
    { "bias_k", FIELD(bias_k), PARAMETER, ALWAYS("1,1,E|E"), "E is embed_dim" },
    { "bias_v", FIELD(bias_v), PARAMETER, ALWAYS("1,1,E|E"), "E is embed_dim" },
    { "out_proj.weight", FIELD(out_proj_weight), PARAMETER, ALWAYS("E,E"), "E is embed_dim" },
    { "out_proj.bias", FIELD(out_proj_bias), PARAMETER, ALWAYS("E"), "E is embed_dim" },
};

const struct member attn_mask_member = {
    "attn_mask", 0, ARGUMENT, { "L,S|N*H,L,S", "L,S|N*H,L,S", "L,S|H,L,S" }, "L is that of query, S that of key"
};

const struct member key_padding_mask_member = {
    "key_padding_mask", 0, ARGUMENT, { "N,S", "N,S", "S" }, "S is that of key"
};

const char *member_shape(const struct member *m, const struct mha_in *in)
{
    return m->shape[!in->batched ? 2 : in->batch_first ? 0 : 1];
}

static size_t letter(const char *name, size_t length, const struct mha_in *in)
{
    if (length == 2)
        return name[1] == 'k' ? in->Ek : in->Ev;
    switch (*name) {
    case 'N': return in->N;
    case 'L': return in->L;
    case 'S': return in->S;
    case 'H': return in->H;
    default:  return in->E;
    }
}

/* "3E", "N*H", "Ek", "1". A product that no array can have is SIZE_MAX. */
static size_t dimension(const char **at, const struct mha_in *in)
{
    uint64_t product = 1;

    for (;;) {
        const char *p = *at;
        size_t n;
        if (*p >= '0' && *p <= '9') {
            product *= (uint64_t)(*p - '0');
            n = 1;
        } else {
            n = p[1] == 'k' || p[1] == 'v' ? 2 : 1;
            uint64_t x = letter(p, n, in);
            product = x && product > NPZ_BYTES / x ? NPZ_BYTES + 1ULL : product * x;
        }
        *at = p + n;
        if (**at == '*')
            (*at)++;
        else if (**at == ',' || **at == '|' || !**at)
            return product > NPZ_BYTES ? SIZE_MAX : (size_t)product;
    }
}

int member_dims(size_t shape[NPZ_DIMS], const char *letters, int which, const struct mha_in *in)
{
    int n = 0;

    for (; which; which--) {
        letters = strchr(letters, '|');
        if (!letters)
            return -1;
        letters++;
    }
    for (;;) {
        shape[n++] = dimension(&letters, in);
        if (*letters != ',')
            return n;
        letters++;
    }
}

const char *member_wanted(char text[200], const char *letters, const struct mha_in *in)
{
    struct npz_array a = { 0 };
    char numbers[128];
    size_t at = 0;

    text[0] = '\0';
    for (int which = 0; (a.ndim = member_dims(a.shape, letters, which, in)) > 0; which++) {
        const char *p = letters;
        for (int k = which; k; k--)
            p = strchr(p, '|') + 1;
        at += (size_t)snprintf(text + at, 200 - at, "%s(", which ? " or " : "");
        for (; *p && *p != '|'; p++)
            at += (size_t)snprintf(text + at, 200 - at, *p == ',' ? ", " : "%c", *p);
        at += (size_t)snprintf(text + at, 200 - at, "%s = %s", a.ndim == 1 ? ",)" : ")", npz_shape_text(numbers, &a));
        if (at > 150)
            break;
    }
    return text;
}

int member_fits(const struct npz_array *a, const char *letters, const struct mha_in *in)
{
    size_t shape[NPZ_DIMS];
    int ndim;

    for (int which = 0; (ndim = member_dims(shape, letters, which, in)) > 0; which++)
        if (ndim == a->ndim && memcmp(shape, a->shape, (size_t)ndim * sizeof *shape) == 0)
            return 1;
    return 0;
}
