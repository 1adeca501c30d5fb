/* SPDX-License-Identifier: MIT */
#include "vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../recipe/policy.h"
#include "../store/same.h"
#include "corpus.h"
#include "member.h"
#include "vector_check.h"

static void take_mask(struct mask *mask, struct vector *v, const char *name, unsigned char **flags, double **numbers)
{
    const struct npz_array *a = npz_get(&v->file, name);

    if (!a)
        return;
    mask->ndim = a->ndim;
    if (a->type == NPZ_B1) {
        mask->masked = *flags;
        for (size_t i = 0; i < a->size; i++)
            *(*flags)++ = ((const unsigned char *)a->data)[i];
    } else {
        mask->added = *numbers;
        npz_values(*numbers, a);
        *numbers += a->size;
    }
}

static const char *take(struct vector *v)
{
    const struct npz_array *masks[2] = { npz_get(&v->file, "attn_mask"), npz_get(&v->file, "key_padding_mask") };
    size_t flags = 1;

    for (int k = 0; k < MEMBERS; k++) {
        const struct npz_array *a = npz_get(&v->file, members[k].name);
        v->count += a ? a->size : 0;
    }
    for (int k = 0; k < 2; k++)
        if (masks[k])
            *(masks[k]->type == NPZ_B1 ? &flags : &v->count) += masks[k]->size;
    v->numbers = calloc(v->count ? v->count : 1, sizeof *v->numbers);
    v->flags = malloc(flags);
    if (!v->numbers || !v->flags)
        return WRONG(v, "not enough memory for its %zu numbers", v->count);

    double *next = v->numbers;
    unsigned char *next_flag = v->flags;
    for (int k = 0; k < MEMBERS; k++) {
        const struct npz_array *a = npz_get(&v->file, members[k].name);
        if (!a)
            continue;
        *(const real **)(void *)((char *)&v->in + members[k].at) = next;
        npz_values(next, a);
        next += a->size;
    }
    take_mask(&v->in.attn_mask, v, "attn_mask", &next_flag, &next);
    take_mask(&v->in.key_padding_mask, v, "key_padding_mask", &next_flag, &next);
    return NULL;
}

const char *vector_from(struct vector *v, struct npz *file, const char *name)
{
    *v = (struct vector){ .file = *file };
    *file = (struct npz){ 0 };
    snprintf(v->name, sizeof v->name, "%s", name);
    const char *wrong = vector_check_inputs(v);
    if (!wrong)
        wrong = take(v);
    if (!wrong)
        wrong = vector_check_stages(v);
    if (wrong)
        vector_free(v);
    return wrong;
}

static const char *read_kept(struct vector *v, const void *bytes, size_t length, const char *path, const char *name)
{
    struct npz file;
    const char *wrong = npz_read_kept(&file, bytes, length, path);

    if (!wrong)
        return vector_from(v, &file, name);
    *v = (struct vector){ 0 };
    return WRONG(v, "%s", wrong);
}

const char *vector_read(struct vector *v, const char *path, const char *name)
{
    return read_kept(v, NULL, 0, path, name);
}

const char *vector_read_chosen(struct vector *v, const struct chosen *chosen)
{
    return read_kept(v, chosen->bytes, chosen->length, chosen->path, chosen->name);
}

int vector_round(struct vector *v, double (*round)(const void *context, double x), const void *context)
{
    int changed = 0;

    for (size_t i = 0; i < v->count; i++) {
        double x = v->numbers[i], y = round(context, x);
        if (!same_number(x, y))
            changed |= isfinite(x) && !isfinite(y) ? 1 | 2 : 1;
        v->numbers[i] = y;
    }
    return changed;
}

/* The sentence survives: a failed read ends here too. */
void vector_free(struct vector *v)
{
    char error[sizeof v->error];

    npz_free(&v->file);
    free(v->numbers);
    free(v->flags);
    memcpy(error, v->error, sizeof error);
    *v = (struct vector){ 0 };
    memcpy(v->error, error, sizeof error);
}

const struct npz_array *vector_stage(const struct vector *v, const char *policy, const char *prefix, const char *stage)
{
    char name[NPZ_NAME];
    int main_answer = !policy || strcmp(policy, policies[POLICY_PYTORCH].name) == 0;

    snprintf(name, sizeof name, "%s%s%s%s%s", main_answer ? "" : "alt.", main_answer ? "" : policy, main_answer ? "" : ".",
             prefix, stage);
    return npz_get(&v->file, name);
}

int vector_has_policy(const struct vector *v, const char *policy)
{
    size_t n = strlen(policy);

    if (strcmp(policy, policies[POLICY_PYTORCH].name) == 0)
        return 1;
    for (size_t i = 0; i < v->file.count; i++) {
        const char *name = v->file.arrays[i].name;
        if (strncmp(name, "alt.", 4) == 0 && strncmp(name + 4, policy, n) == 0 && name[4 + n] == '.')
            return 1;
    }
    return 0;
}

char *vector_text(const struct vector *v, const char *member)
{
    const struct npz_array *a = npz_get(&v->file, member);
    size_t n = a ? a->size * npz_type_size(a->type) : 0;
    char *text = malloc(n + 1);

    if (text) {
        if (n)
            memcpy(text, a->data, n);
        text[n] = '\0';
    }
    return text;
}
