/* SPDX-License-Identifier: MIT */
#include "vector_check.h"

#include <string.h>

#include "../recipe/policy.h"
#include "member.h"

static const char *const prose[] = { "about", "made_by", "dtype" };
static const char *const settings[] = { "format", "embed_dim", "kdim", "vdim", "num_heads", "batch_first", "add_zero_attn",
                                        "is_causal", "dropout", "attn_mask", "key_padding_mask" };

int vector_keeps(enum mha_stage stage)
{
    return stage > VALUE_ROWS && stage != OUT_WEIGHT_T;
}

static int among(const char *name, const char *const *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, list[k]) == 0)
            return 1;
    return 0;
}

static int is_input(const char *name)
{
    for (int k = 0; k < MEMBERS; k++)
        if (strcmp(name, members[k].name) == 0)
            return 1;
    return among(name, settings, sizeof settings / sizeof *settings);
}

static const char *check_prose(struct vector *v, const struct npz_array *a)
{
    char shape[128];

    if (a->type != NPZ_U1 || a->ndim != 1)
        return WRONG(v, "%s: found %s of shape %s, wanted text: |u1 of one dimension", a->name, npz_type_name(a->type),
                     npz_shape_text(shape, a));
    size_t good = text_good(a->data, a->size);
    if (good < a->size)
        return WRONG(v, "%s: byte %zu is 0x%02x, wanted UTF-8 without control characters", a->name, good,
                     ((const unsigned char *)a->data)[good]);
    return NULL;
}

/* A member's name taken apart: alt.POLICY.sigma.STAGE, of which all but STAGE may be absent. */
struct stage_name { const char *policy; size_t policy_length; int is_alt, is_sigma; const char *stage; };

static struct stage_name parse_name(const char *name)
{
    struct stage_name n = { .stage = name };

    if (strncmp(name, "alt.", 4) == 0) {
        const char *dot = strchr(name + 4, '.');
        n.is_alt = 1;
        n.policy = name + 4;
        n.policy_length = dot ? (size_t)(dot - n.policy) : 0;
        n.stage = dot ? dot + 1 : "";
    }
    if (strncmp(n.stage, "sigma.", 6) == 0) {
        n.is_sigma = 1;
        n.stage += 6;
    }
    return n;
}

static int is_policy(const struct stage_name *n)
{
    for (int k = POLICY_PYTORCH + 1; k < POLICIES; k++)
        if (strlen(policies[k].name) == n->policy_length && memcmp(n->policy, policies[k].name, n->policy_length) == 0)
            return 1;
    return 0;
}

/* The stage that a file keeps under this name, or STAGES. */
static int stage_named(const char *name, const struct array t[STAGES])
{
    int k = 0;

    while (k < STAGES && !(vector_keeps((enum mha_stage)k) && strcmp(name, t[k].name) == 0))
        k++;
    return k;
}

static const char *check_sigma(struct vector *v, const struct npz_array *a)
{
    const double *sigma = a->data;

    for (size_t m = 0; m < a->size; m++)
        if (!(sigma[m] >= 0))
            return WRONG(v, "%s: element %zu is %g, wanted a standard deviation", a->name, m, sigma[m]);
    return NULL;
}

static const char *check_stage(struct vector *v, const struct npz_array *a, const struct array t[STAGES])
{
    struct stage_name n = parse_name(a->name);
    int k = stage_named(n.stage, t);
    char found[128], wanted[128], known[POLICY_LIST];

    if (n.is_alt && !is_policy(&n))
        return WRONG(v, "%s: no such policy; wanted alt.POLICY.STAGE with %s", a->name, policy_names(known));
    if (k == STAGES)
        return n.is_alt || n.is_sigma ? WRONG(v, "%s: no stage is named %s", a->name, n.stage)
                                      : WRONG(v, "%s: no member of a vector file has this name", a->name);
    if (!v->in.in_proj_bias && k >= Q_BIAS && k <= V_BIAS)
        return WRONG(v, "%s: found, although there is no in_proj_bias", a->name);
    if (a->type != NPZ_F8)
        return WRONG(v, "%s: found %s, wanted <f8", a->name, npz_type_name(a->type));
    if (a->ndim != t[k].ndim || memcmp(a->shape, t[k].shape, sizeof a->shape)) {
        struct npz_array b = { .ndim = t[k].ndim };
        memcpy(b.shape, t[k].shape, sizeof b.shape);
        return WRONG(v, "%s: found %s, wanted %s", a->name, npz_shape_text(found, a), npz_shape_text(wanted, &b));
    }
    return n.is_sigma ? check_sigma(v, a) : NULL;
}

const char *vector_check_stages(struct vector *v)
{
    struct array t[STAGES];
    const char *wrong = mha_shapes(t, &v->in);

    if (wrong)
        return WRONG(v, "%s", wrong);
    for (size_t i = 0; !wrong && i < v->file.count; i++) {
        const struct npz_array *a = &v->file.arrays[i];
        if (among(a->name, prose, sizeof prose / sizeof *prose))
            wrong = check_prose(v, a);
        else if (!is_input(a->name))
            wrong = check_stage(v, a, t);
    }
    return wrong;
}
