/* SPDX-License-Identifier: MIT */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKED(name) { name ".weight", NULL, NULL }, { name ".bias", NULL, NULL }
#define THREE(q, k, v) { q ".weight", k ".weight", v ".weight" }, { q ".bias", k ".bias", v ".bias" }

static const struct naming namings[] = {
    { { "in_proj_weight", NULL, NULL }, { "in_proj_bias", NULL, NULL }, "out_proj.weight", "out_proj.bias", "", "qkv" },
    { { "q_proj_weight", "k_proj_weight", "v_proj_weight" }, { "in_proj_bias", NULL, NULL }, "out_proj.weight", "out_proj.bias", "", "qkv" },
    { PACKED("qkv"), "proj.weight", "proj.bias", "timm", "qkv" },
    { PACKED("query_key_value"), "dense.weight", "dense.bias", "GPT-NeoX, BLOOM, Megatron", "qkv,head" },
    { PACKED("linear_qkv"), "linear_proj.weight", "linear_proj.bias", "Megatron-Core", "qkv,head" },
    { PACKED("c_attn"), "c_proj.weight", "c_proj.bias", "GPT-2", "qkv,columns" },
    { PACKED("Wqkv"), "out_proj.weight", "out_proj.bias", "flash-attn", "qkv" },
    { THREE("q_proj", "k_proj", "v_proj"), "out_proj.weight", "out_proj.bias", "fairseq", "qkv" },
    { THREE("q_proj", "k_proj", "v_proj"), "o_proj.weight", "o_proj.bias", "Llama", "qkv" },
    { THREE("self.query", "self.key", "self.value"), "output.dense.weight", "output.dense.bias", "BERT", "qkv" },
    { THREE("to_q", "to_k", "to_v"), "to_out.0.weight", "to_out.0.bias", "diffusers", "qkv" },
};
#define NAMINGS (sizeof namings / sizeof *namings)

/* ---- names ---- */

/* The bytes before part where name is "part" or "PREFIX.part"; else -1. */
static long before(const char *name, const char *part)
{
    size_t n = strlen(name), m = part ? strlen(part) : n + 1;

    if (m > n || strcmp(name + n - m, part) || (n > m && name[n - m - 1] != '.' && name[n - m - 1] != '/'))
        return -1;
    return (long)(n - m);
}

int layer_part(const char *name)
{
    for (size_t k = 0; k < NAMINGS; k++) {
        const struct naming *n = &namings[k];
        for (int s = 0; s < 3; s++)
            if (before(name, n->weight[s]) >= 0 || before(name, n->bias[s]) >= 0)
                return 1;
        if (before(name, n->out_weight) >= 0 || before(name, n->out_bias) >= 0)
            return 1;
    }
    return before(name, "bias_k") >= 0 || before(name, "bias_v") >= 0;
}

/* ---- shapes ---- */

static int is_vector(const struct tensor *t, size_t n)
{
    size_t size = 1;

    for (int k = 0; k < t->ndim; k++)
        size *= t->shape[k];
    return t->ndim >= 1 && t->shape[t->ndim - 1] == n && size == n;
}

static int is_matrix(const struct tensor *t, size_t rows, size_t columns)
{
    return t->ndim == 2 && t->shape[0] == rows && t->shape[1] == columns;
}

static void bad_shape(struct layer *l, const struct tensor *t, const char *wanted)
{
    char shape[192], shown[SHOWN];

    if (!l->problem[0])
        snprintf(l->problem, sizeof l->problem, "%.90s: found shape %.60s, wanted %s",
                 show_name(shown, t->name, strlen(t->name)), tensor_shape_text(shape, t), wanted);
}

/* The width of an input that a weight takes: of (E,X) or, transposed, (X,E). */
static size_t width(struct layer *l, const struct tensor *t)
{
    if (t->ndim == 2 && t->shape[0] == l->E)
        return t->shape[1];
    if (t->ndim == 2 && t->shape[1] == l->E)
        return t->shape[0];
    bad_shape(l, t, "one dimension to be E, as in the weight of q");
    return 0;
}

static void check_shapes(struct layer *l)
{
    const struct tensor *w = l->weight[0];

    if (layer_separate(l)) {
        if (w->ndim != 2 || w->shape[0] != w->shape[1] || !w->shape[0])
            bad_shape(l, w, "(E, E)");
        l->E = w->ndim == 2 ? w->shape[0] : 0;
        l->Ek = width(l, l->weight[1]);
        l->Ev = width(l, l->weight[2]);
    } else {
        size_t least = w->ndim != 2 ? 0 : w->shape[0] < w->shape[1] ? w->shape[0] : w->shape[1];
        l->E = l->Ek = l->Ev = least;
        if (!least || least > SIZE_MAX / 4 || w->shape[0] + w->shape[1] != 4 * least)
            bad_shape(l, w, "(3E, E)");
    }
    for (int s = 0; s < 3; s++)
        if (l->bias[s] && !is_vector(l->bias[s], l->naming->bias[1] ? l->E : 3 * l->E))
            bad_shape(l, l->bias[s], l->naming->bias[1] ? "(E,)" : "(3E,)");
    if (l->bias_k && !is_vector(l->bias_k, l->E))
        bad_shape(l, l->bias_k, "(1, 1, E)");
    if (l->bias_v && !is_vector(l->bias_v, l->E))
        bad_shape(l, l->bias_v, "(1, 1, E)");
    if (!l->bias_k != !l->bias_v && !l->problem[0])
        snprintf(l->problem, sizeof l->problem, "bias_k or bias_v alone, wanted both or none");
    if (l->out_weight && !is_matrix(l->out_weight, l->E, l->E))
        bad_shape(l, l->out_weight, "(E, E)");
    if (l->out_bias && !is_vector(l->out_bias, l->E))
        bad_shape(l, l->out_bias, "(E,)");
}

static void check_types(struct layer *l, const struct tensor *t)
{
    char shown[SHOWN];

    if (!t)
        return;
    if (t->type == TENSOR_OTHER && !l->problem[0])
        snprintf(l->problem, sizeof l->problem, "%.90s: found %s, wanted float16, bfloat16, float32 or float64",
                 show_name(shown, t->name, strlen(t->name)), t->type_name);
    if (t->type != TENSOR_OTHER) {
        size_t size = 1;
        for (int k = 0; k < t->ndim; k++)
            size *= t->shape[k];
        l->numbers += size;
    }
}

/* ---- layers ---- */

/* The layer whose first weight is t, under one of the namings. */
static int find(struct layer *l, const struct checkpoint *c, const struct tensor *t, const struct naming *n)
{
    long length = before(t->name, n->weight[0]);

    if (length < 0)
        return 0;
    *l = (struct layer){ .prefix = t->name, .length = length ? (size_t)length - 1 : 0, .naming = n };
    for (int s = 0; s < 3; s++) {
        l->weight[s] = n->weight[s] ? checkpoint_get(c, t->name, (size_t)length, n->weight[s]) : NULL;
        l->bias[s] = n->bias[s] ? checkpoint_get(c, t->name, (size_t)length, n->bias[s]) : NULL;
        if (n->weight[s] && !l->weight[s])
            return 0;
    }
    l->bias_k = checkpoint_get(c, t->name, (size_t)length, "bias_k");
    l->bias_v = checkpoint_get(c, t->name, (size_t)length, "bias_v");
    l->out_weight = checkpoint_get(c, t->name, (size_t)length, n->out_weight);
    l->out_bias = checkpoint_get(c, t->name, (size_t)length, n->out_bias);
    const struct tensor *parts[] = { l->weight[0], l->weight[1], l->weight[2], l->bias[0], l->bias[1], l->bias[2],
                                     l->bias_k, l->bias_v, l->out_weight, l->out_bias };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        check_types(l, parts[k]);
    if (!l->problem[0])
        check_shapes(l);
    /* Another program's name may mean another thing: a convolution, fewer heads of k and v. */
    return !n->origin[0] || (!l->problem[0] && l->out_weight);
}

const char *layers_find(struct layers *all, const struct checkpoint *c)
{
    *all = (struct layers){ .layer = calloc(c->count ? c->count : 1, sizeof *all->layer) };
    if (!all->layer)
        return "not enough memory for its layers";
    for (size_t k = 0; k < c->count; k++)
        for (size_t n = 0; n < NAMINGS; n++)
            if (find(&all->layer[all->count], c, &c->tensors[k], &namings[n])) {
                all->count++;
                break;
            }
    return NULL;
}

void layers_free(struct layers *all)
{
    free(all->layer);
    *all = (struct layers){ 0 };
}

static int names(const struct layer *l, const char *name, size_t length, int whole)
{
    if (length > l->length || memcmp(l->prefix + l->length - length, name, length))
        return 0;
    return l->length == length || (!whole && length && (l->prefix[l->length - length - 1] == '.' || l->prefix[l->length - length - 1] == '/'));
}

const char *layers_named(const struct layer **found, const struct layers *all, const char *name, char error[SENTENCE])
{
    size_t length = strcmp(name, ".") ? strlen(name) : 0, count = 0;
    const struct layer *other = NULL;

    *found = NULL;
    for (int whole = 1; whole >= 0 && !*found; whole--)
        for (size_t k = 0; k < all->count; k++) {
            const struct layer *l = &all->layer[k];
            long before_weight = before(name, l->naming->weight[0]);
            size_t n = before_weight < 0 ? length : before_weight ? (size_t)before_weight - 1 : 0;
            if (names(l, name, n, whole)) {
                other = *found;
                *found = l;
                count++;
            }
        }
    if (count > 1)
        return say(error, SENTENCE, "%.80s: names %zu attention layers, among them %.*s and %.*s", name, count, (int)(other->length > 60 ? 60 : other->length),
                   other->prefix, (int)((*found)->length > 60 ? 60 : (*found)->length), (*found)->prefix);
    if (!*found)
        return say(error, SENTENCE, "%.80s: no such attention layer among the %zu of this file", name, all->count);
    return (*found)->problem[0] ? say(error, SENTENCE, "%s", (*found)->problem) : NULL;
}
