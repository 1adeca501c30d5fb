/* SPDX-License-Identifier: MIT */
/* The list of a checkpoint's tensors: add one, sort them, find one by its name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/grow.h"
#include "checkpoint.h"

struct tensor *checkpoint_add(struct checkpoint *c, const char *name, size_t length)
{
    char shown[SHOWN];

    if (length >= CHECKPOINT_NAME) {
        say(c->error, SENTENCE, "%s: a name of %zu bytes, wanted at most %d", show_name(shown, name, length), length, CHECKPOINT_NAME - 1);
        return NULL;
    }
    if (c->count == CHECKPOINT_TENSORS) {
        say(c->error, SENTENCE, "more than %zu tensors", CHECKPOINT_TENSORS);
        return NULL;
    }
    struct tensor *tensors = grow(c->tensors, &c->room, c->count, sizeof *tensors);
    c->tensors = tensors ? tensors : c->tensors;
    char *copy = tensors ? malloc(length + 1) : NULL;
    if (!copy) {
        say(c->error, SENTENCE, "not enough memory for %zu tensors", c->count + 1);
        return NULL;
    }
    if (length)
        memcpy(copy, name, length);
    copy[length] = '\0';
    struct tensor *t = &c->tensors[c->count++];
    *t = (struct tensor){ .name = copy };
    return t;
}

void checkpoint_skip(struct checkpoint *c, const char *path, size_t length, const char *type)
{
    char shown[SHOWN];

    if (c->skipped_count < CHECKPOINT_SKIPPED)
        snprintf(c->skipped[c->skipped_count], SHOWN, "%.40s (%.48s)", show_name(shown, path, length), type);
    c->skipped_count++;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct tensor *const *)a)->name, (*(const struct tensor *const *)b)->name);
}

const char *checkpoint_sort(struct checkpoint *c)
{
    char shown[SHOWN];

    if (!(c->sorted = malloc((c->count ? c->count : 1) * sizeof *c->sorted)))
        return say(c->error, SENTENCE, "not enough memory for %zu tensors", c->count);
    for (size_t k = 0; k < c->count; k++)
        c->sorted[k] = &c->tensors[k];
    qsort(c->sorted, c->count, sizeof *c->sorted, by_name);
    for (size_t k = 1; k < c->count; k++)
        if (!by_name(&c->sorted[k - 1], &c->sorted[k]))
            return say(c->error, SENTENCE, "%s: two tensors of this name", show_name(shown, c->sorted[k]->name, strlen(c->sorted[k]->name)));
    return NULL;
}

const struct tensor *checkpoint_get(const struct checkpoint *c, const char *prefix, size_t prefix_length, const char *name)
{
    char path[CHECKPOINT_NAME];
    struct tensor wanted = { .name = path };
    const struct tensor *key = &wanted, **found;

    if (prefix_length + strlen(name) >= sizeof path)
        return NULL;
    memcpy(path, prefix, prefix_length);
    strcpy(path + prefix_length, name);
    found = c->count ? bsearch(&key, c->sorted, c->count, sizeof *c->sorted, by_name) : NULL;
    return found ? *found : NULL;
}

/* Keep c->error and skipped: a failed read ends here too. */
void checkpoint_free(struct checkpoint *c)
{
    for (size_t k = 0; k < c->count; k++) {
        free(c->tensors[k].name);
        free(c->tensors[k].unpacked);
    }
    for (size_t k = 0; k < c->shard_count; k++)
        free(c->shard[k]);
    free(c->shard);
    free(c->tensors);
    free(c->sorted);
    free(c->bytes);
    c->shard = NULL;
    c->shard_count = 0;
    c->tensors = NULL;
    c->sorted = NULL;
    c->bytes = NULL;
    c->count = c->room = c->length = 0;
}
