/* SPDX-License-Identifier: MIT */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/grow.h"

/* ---- names ---- */

static int is_part(const char *name, const char *part)
{
    char key[NAMING_KEY];

    for (size_t s = 0; s < SPELLINGS && part; s++)
        if (naming_spell(key, part, &spellings[s]) && naming_prefix(name, key) >= 0)
            return 1;
    return 0;
}

int layer_part(const char *name)
{
    for (size_t k = 0; k < naming_count; k++) {
        const struct naming *n = &namings[k];
        for (int s = 0; s < 3; s++)
            if (is_part(name, n->weight[s]) || is_part(name, n->bias[s]))
                return 1;
        if (is_part(name, n->out_weight) || is_part(name, n->out_bias))
            return 1;
    }
    return is_part(name, "bias_k") || is_part(name, "bias_v");
}

/* ---- one layer ---- */

/* Return the tensor of a name below the prefix of a layer, or NULL. */
static const struct tensor *get(const struct checkpoint *c, const char *prefix, size_t length, const char *name, const struct spelling *s)
{
    char key[NAMING_KEY];

    return naming_spell(key, name, s) ? checkpoint_get(c, prefix, length, key) : NULL;
}

static size_t count_numbers(struct layer *l, const struct tensor *t)
{
    char shown[SHOWN];
    size_t size = 1;

    if (!t)
        return 0;
    if (t->type == TENSOR_OTHER) {
        if (!l->problem[0])
            snprintf(l->problem, sizeof l->problem, "%.90s: found %s, wanted float16, bfloat16, float32 or float64",
                     show_name(shown, t->name, strlen(t->name)), t->type_name);
        return 0;
    }
    for (int k = 0; k < t->ndim; k++)
        size *= t->shape[k];
    return size;
}

/* Fill in the layer whose first weight is t, under one row of names in one spelling. Returns 0 if it is none. */
static int match(struct layer *l, const struct checkpoint *c, const struct tensor *t, const struct naming *n, const struct spelling *s)
{
    char key[NAMING_KEY];
    long length = naming_spell(key, n->weight[0], s) ? naming_prefix(t->name, key) : -1;

    if (length < 0 || ((n->shapes & NAMED_3D) && t->ndim != 3))
        return 0;
    *l = (struct layer){ .prefix = t->name, .length = length ? (size_t)length - 1 : 0, .separator = s->separator, .in_out = s->in_out, .naming = n };
    for (int k = 0; k < 3; k++) {
        l->weight[k] = n->weight[k] ? get(c, t->name, (size_t)length, n->weight[k], s) : NULL;
        l->bias[k] = n->bias[k] ? get(c, t->name, (size_t)length, n->bias[k], s) : NULL;
        if (n->weight[k] && !l->weight[k])
            return 0;
    }
    l->bias_k = get(c, t->name, (size_t)length, "bias_k", s);
    l->bias_v = get(c, t->name, (size_t)length, "bias_v", s);
    l->out_weight = n->out_weight ? get(c, t->name, (size_t)length, n->out_weight, s) : NULL;
    l->out_bias = n->out_bias ? get(c, t->name, (size_t)length, n->out_bias, s) : NULL;
    return 1;
}

static void measure(struct layer *l, const struct clues *clues)
{
    const struct tensor *parts[] = { l->weight[0], l->weight[1], l->weight[2], l->bias[0], l->bias[1], l->bias[2],
                                     l->bias_k, l->bias_v, l->out_weight, l->out_bias };

    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        l->numbers += count_numbers(l, parts[k]);
    if (!l->problem[0])
        layer_shape(l, clues);
}

static size_t tensors_in(const struct layer *l)
{
    size_t n = l->out_weight != NULL;

    for (int k = 0; k < 3; k++)
        n += (size_t)(l->weight[k] != NULL) + (l->bias[k] != NULL);
    return n + (l->out_bias != NULL);
}

/* Return whether a layer is better than another one with the same weights: one that can be read, then one with more tensors. */
static int is_better(const struct layer *a, const struct layer *b)
{
    if (!a->problem[0] != !b->problem[0])
        return !a->problem[0];
    return tensors_in(a) > tensors_in(b);
}

/* Find the best layer whose first weight is t. Names of other programs mean an
 * attention layer only with an output projection. Returns 0 if there is none. */
static int find(struct layer *best, const struct checkpoint *c, const struct tensor *t, const struct clues *clues)
{
    struct layer l;
    int found = 0;

    for (size_t k = 0; k < naming_count + (clues->naming != NULL); k++) {
        const struct naming *n = k < naming_count ? &namings[k] : clues->naming;
        for (size_t s = 0; s < SPELLINGS; s++) {
            if (!match(&l, c, t, n, &spellings[s]) || (n->origin[0] && !l.out_weight && n != clues->naming))
                continue;
            measure(&l, clues);
            if (!found++ || n == clues->naming || is_better(&l, best))
                *best = l;
            break;    /* other spellings are of other tensors */
        }
    }
    return found;
}

const char *layers_find(struct layers *all, const struct checkpoint *c, const struct clues *clues)
{
    *all = (struct layers){ 0 };
    for (size_t k = 0, room = 0; k < c->count; k++) {
        struct layer l;
        if (!find(&l, c, &c->tensors[k], clues))
            continue;
        struct layer *layers = grow(all->layer, &room, all->count, sizeof *layers);
        if (!layers) {
            layers_free(all);
            return "not enough memory for its layers";
        }
        all->layer = layers;
        layer_find_unused(&l, c);
        all->layer[all->count++] = l;
    }
    return NULL;
}

void layers_free(struct layers *all)
{
    free(all->layer);
    *all = (struct layers){ 0 };
}

/* ---- by name ---- */

static int is_named(const struct layer *l, const char *name, size_t length, int whole)
{
    if (length > l->length || memcmp(l->prefix + l->length - length, name, length))
        return 0;
    return l->length == length || (!whole && length && (l->prefix[l->length - length - 1] == '.' || l->prefix[l->length - length - 1] == '/'));
}

/* Write the first prefixes into text: "a, b, c and 3 more". Returns text. */
static const char *first_prefixes(char text[160], const struct layers *all)
{
    size_t at = 0, k = 0;

    text[0] = '\0';
    for (; k < all->count && k < 3; k++) {
        char shown[SHOWN];
        show_name(shown, all->layer[k].length ? all->layer[k].prefix : ".", all->layer[k].length ? all->layer[k].length : 1);
        int n = snprintf(text + at, 160 - at, "%s%.42s", k ? ", " : "", shown);
        at += n > 0 && (size_t)n < 160 - at ? (size_t)n : 0;
    }
    if (k < all->count)
        snprintf(text + at, 160 - at, ", ...");
    return text;
}

const char *layers_named(const struct layer **found, const struct layers *all, const char *name, char error[SENTENCE])
{
    size_t length = strcmp(name, ".") ? strlen(name) : 0, count = 0;
    const struct layer *other = NULL;
    char shown[SHOWN], text[160];

    *found = NULL;
    for (int whole = 1; whole >= 0 && !*found; whole--)
        for (size_t k = 0; k < all->count; k++) {
            const struct layer *l = &all->layer[k];
            long weight = naming_prefix(name, l->weight[0]->name + (l->length ? l->length + 1 : 0));    /* the key of its weight */
            size_t n = weight < 0 ? length : weight ? (size_t)weight - 1 : 0;
            if (is_named(l, name, n, whole)) {
                other = *found;
                *found = l;
                count++;
            }
        }
    show_name(shown, name, strlen(name));
    if (count > 1)
        return say(error, SENTENCE, "%.80s: names %zu attention layers, among them %.*s and %.*s", shown, count, (int)(other->length > 60 ? 60 : other->length),
                   other->prefix, (int)((*found)->length > 60 ? 60 : (*found)->length), (*found)->prefix);
    if (!*found)
        return say(error, SENTENCE, "%.80s: no such attention layer among the %zu of this file: %s", shown, all->count, first_prefixes(text, all));
    return (*found)->problem[0] ? say(error, SENTENCE, "%s", (*found)->problem) : NULL;
}
