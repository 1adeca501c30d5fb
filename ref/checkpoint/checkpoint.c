/* SPDX-License-Identifier: MIT */
#include "checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/file.h"
#include "layer.h"
#include "../store/npy.h"

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
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        struct tensor *more = realloc(c->tensors, room * sizeof *more);
        if (more) {
            c->tensors = more;
            c->room = room;
        }
    }
    char *copy = c->count < c->room ? malloc(length + 1) : NULL;
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

/* ---- .npz: a member that cannot be read is refused only if it may be part of an attention layer ---- */

static const char *npy_read(struct checkpoint *c, const struct zip_member *m, size_t *total)
{
    static const enum tensor_type types[NPZ_TYPES] = { TENSOR_F16, TENSOR_F32, TENSOR_F64, TENSOR_OTHER, TENSOR_OTHER, TENSOR_OTHER };
    struct npz_array a = { 0 };
    unsigned char *bytes;
    const char *wrong;

    if (m->name_length < 4 || memcmp(m->name + m->name_length - 4, ".npy", 4))
        return say(c->error, SENTENCE, "%s: wanted only members NAME.npy, or the data.pkl of torch.save()", m->shown);
    struct tensor *t = checkpoint_add(c, (const char *)m->name, m->name_length - 4);
    if (!t)
        return c->error;
    t->type = TENSOR_OTHER;
    int part = layer_part(t->name);
    if (m->size > NPZ_BYTES - *total)
        return !part ? NULL : say(c->error, SENTENCE, "%s: with it the arrays take more than %zu bytes", m->shown, NPZ_BYTES);
    *total += m->size;
    snprintf(a.name, sizeof a.name, "%.*s", NPZ_NAME - 1, t->name);
    if ((wrong = zip_unpack(&bytes, m, c->error)) || (wrong = npy_take(&a, bytes, m->size, c->error)))
        return part ? wrong : NULL;
    t->type = types[a.type];
    snprintf(t->type_name, sizeof t->type_name, "%s", npz_type_name(a.type));
    t->ndim = a.ndim;
    memcpy(t->shape, a.shape, sizeof a.shape);
    t->elements = a.size;
    t->unpacked = a.data;
    tensor_contiguous(t);
    return NULL;
}

static const char *npz_members(struct checkpoint *c)
{
    struct zip archive;
    struct zip_member m;
    size_t total = 0;
    int more = 1;
    const char *wrong = zip_open(&archive, c->bytes, c->length, c->error);

    while (!wrong && !(wrong = zip_next(&m, &more, &archive)) && more)
        wrong = npy_read(c, &m, &total);
    return wrong;
}

/* ---- which format ---- */

/* Return whether the archive has a member whose name ends so: torch.save()'s has data.pkl. */
static int has_member(const struct checkpoint *c, const char *name)
{
    char ignored[SENTENCE];
    struct zip archive;
    struct zip_member m;
    size_t length = strlen(name);
    int more = 1;

    if (zip_open(&archive, c->bytes, c->length, ignored))
        return 0;
    while (!zip_next(&m, &more, &archive) && more)
        if (m.name_length >= length && !memcmp(m.name + m.name_length - length, name, length))
            return 1;
    return 0;
}

static const char *read_any(struct checkpoint *c, const char *path)
{
    const unsigned char *b = c->bytes;

    if (c->length && b[0] == '{') {
        c->format = "index";
        return index_read(c, path);
    }
    if (c->length >= 4 && !memcmp(b, "PK\3\4", 4)) {
        int pickle = has_member(c, "data.pkl");
        c->format = pickle ? "torch.save" : "npz";
        if (!pickle && has_member(c, "model.weights.h5"))
            return say(c->error, SENTENCE, "a Keras archive, which is not read; convert it: unzip -p FILE model.weights.h5 > FILE.h5, then the .h5 as its own message says");
        return pickle ? torch_zip_read(c) : npz_members(c);
    }
    if (c->length > 8 && b[8] == '{') {
        c->format = "safetensors";
        return safetensors_read(c);
    }
    if (c->length >= 2 && b[0] == 0x80) {
        c->format = "torch.save (legacy)";
        return torch_legacy_read(c);
    }
    if (format_refuse(b, c->length, c->error))
        return c->error;
    return say(c->error, SENTENCE, c->length ? "begins with none of the formats that are read: torch.save, safetensors, npz, index.json"
                                             : "empty, wanted a file of torch.save, safetensors or npz");
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct tensor *const *)a)->name, (*(const struct tensor *const *)b)->name);
}

static const char *sort(struct checkpoint *c)
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

/* Read bytes of the file at path (NULL: of memory alone). */
static const char *read_bytes(struct checkpoint *c, unsigned char *bytes, size_t length, const char *path)
{
    *c = (struct checkpoint){ .bytes = bytes, .length = length };
    const char *wrong = read_any(c, path);

    for (size_t k = 0; k < c->count && !wrong; k++)
        if (c->tensors[k].type != TENSOR_OTHER)
            wrong = tensor_check(&c->tensors[k], c->error);
    if (!wrong)
        wrong = sort(c);
    if (wrong)
        checkpoint_free(c);
    return wrong;
}

const char *checkpoint_read_memory(struct checkpoint *c, unsigned char *bytes, size_t length)
{
    return read_bytes(c, bytes, length, NULL);
}

const char *checkpoint_read(struct checkpoint *c, const char *path)
{
    unsigned char *bytes;
    size_t length;

    *c = (struct checkpoint){ 0 };
    const char *wrong = file_read(&bytes, &length, path, CHECKPOINT_BYTES, c->error);
    return wrong ? wrong : read_bytes(c, bytes, length, path);
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
