/* SPDX-License-Identifier: MIT */
/* A checkpoint of one file: which format it is, and the reader of .npz. */
#include <stdio.h>
#include <string.h>

#include "../store/npy.h"
#include "checkpoint.h"
#include "layer.h"

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

static const char *read_any(struct checkpoint *c)
{
    const unsigned char *b = c->bytes;

    if (c->length && b[0] == '{') {
        c->format = "index";
        return say(c->error, SENTENCE, "an index of files, wanted one file");
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

const char *checkpoint_finish(struct checkpoint *c, const char *wrong)
{
    for (size_t k = 0; k < c->count && !wrong; k++)
        if (c->tensors[k].type != TENSOR_OTHER)
            wrong = tensor_check(&c->tensors[k], c->error);
    if (!wrong)
        wrong = checkpoint_sort(c);
    if (wrong)
        checkpoint_free(c);
    return wrong;
}

const char *checkpoint_read_memory(struct checkpoint *c, unsigned char *bytes, size_t length)
{
    *c = (struct checkpoint){ .bytes = bytes, .length = length };
    return checkpoint_finish(c, read_any(c));
}
