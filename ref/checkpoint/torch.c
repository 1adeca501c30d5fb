/* SPDX-License-Identifier: MIT */
/*
 * What the values in a pickle of torch.save() mean: a tensor is a call of
 * _rebuild_tensor_v2(storage, offset, size, stride, ...), a storage a
 * persistent id ("storage", type, key, location, elements).
 */
#include "torch.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum tensor_type type;
    unsigned item;
} storage_types[] = {
    { "FloatStorage", TENSOR_F32, 4 }, { "DoubleStorage", TENSOR_F64, 8 }, { "HalfStorage", TENSOR_F16, 2 },
    { "BFloat16Storage", TENSOR_BF16, 2 }, { "LongStorage", TENSOR_OTHER, 8 }, { "IntStorage", TENSOR_OTHER, 4 },
    { "ShortStorage", TENSOR_OTHER, 2 }, { "ComplexFloatStorage", TENSOR_OTHER, 8 },
    { "ComplexDoubleStorage", TENSOR_OTHER, 16 }, { "QInt32Storage", TENSOR_OTHER, 4 },
};

static unsigned known_type(enum tensor_type *type, const char *name)
{
    for (size_t k = 0; k < sizeof storage_types / sizeof *storage_types; k++)
        if (!strcmp(storage_types[k].name, name)) {
            *type = storage_types[k].type;
            return storage_types[k].item;
        }
    *type = TENSOR_OTHER;
    return 1;    /* bytes, bools, untyped */
}

/* Return the kind of a value in words, or "nothing". */
static const char *kind(const struct value *v)
{
    return v ? pickle_kind_name(v->kind) : "nothing";
}

/* Read a whole number from 0 on. Returns 0 if it is none. */
static int whole(size_t *x, const struct value *v)
{
    if (!v || v->kind != VALUE_INT || v->number < 0 || (uint64_t)v->number > SIZE_MAX / 2)
        return 0;
    *x = (size_t)v->number;
    return 1;
}

const char *torch_storage(struct torch_storage *s, const struct pickle *p, const struct value *v, char error[SENTENCE])
{
    const struct value *id = v && v->kind == VALUE_PERSISTENT ? &p->values[v->first] : NULL;

    if (!id)
        return say(error, SENTENCE, "found %s, wanted a storage", kind(v));
    const struct value *tag = pickle_item(p, id, 0), *type = pickle_item(p, id, 1), *key = pickle_item(p, id, 2),
                       *elements = pickle_item(p, id, 4), *view = pickle_item(p, id, 5);
    if (!pickle_text_is(tag, "storage"))
        return say(error, SENTENCE, "found another persistent id than ('storage', ...)");
    if (!type || type->kind != VALUE_GLOBAL || type->what->use != GLOBAL_STORAGE)
        return say(error, SENTENCE, "found %s as type of a storage", kind(type));
    if (!key || key->kind != VALUE_TEXT || !whole(&s->elements, elements))
        return say(error, SENTENCE, "found a storage with %s as key and %s as size, wanted a string and a number", kind(key), kind(elements));
    if (view && view->kind != VALUE_NONE)
        return say(error, SENTENCE, "found a storage that is a view of another, which is not read");
    s->type_name = type->what->name;
    s->item = known_type(&s->type, s->type_name);
    s->key = key->text;
    s->key_length = key->length;
    if (s->elements > SIZE_MAX / 2 / s->item)
        return say(error, SENTENCE, "found a storage of %zu elements", s->elements);
    return NULL;
}

/* Dimensions: size and stride are tuples of the same length. */
static const char *dimensions(struct tensor *t, const struct pickle *p, const struct value *size, const struct value *stride, char error[SENTENCE])
{
    if (!size || size->kind != VALUE_TUPLE || !stride || stride->kind != VALUE_TUPLE || size->count != stride->count)
        return say(error, SENTENCE, "found %s as size and %s as stride, wanted two tuples of one length", kind(size), kind(stride));
    if (size->count > TENSOR_DIMS)
        return say(error, SENTENCE, "found %u dimensions, wanted at most %d", size->count, TENSOR_DIMS);
    t->ndim = (int)size->count;
    for (int k = 0; k < t->ndim; k++)
        if (!whole(&t->shape[k], pickle_item(p, size, (size_t)k)) || !whole(&t->stride[k], pickle_item(p, stride, (size_t)k)))
            return say(error, SENTENCE, "found a size or stride in dimension %d that is no number from 0 on", k);
    return NULL;
}

static const char *tensor(struct tensor *t, const struct pickle *p, const struct value *call, const struct torch_place *place, char error[SENTENCE])
{
    const struct value *args = &p->values[call->first];
    struct torch_storage s;
    const char *wrong;

    if (call->what->use == GLOBAL_HARMLESS) {    /* a sparse tensor, say */
        t->type = TENSOR_OTHER;
        snprintf(t->type_name, sizeof t->type_name, "%s", call->what->name);
        return NULL;
    }
    if ((wrong = torch_storage(&s, p, pickle_item(p, args, 0), error)) || (wrong = dimensions(t, p, pickle_item(p, args, 2), pickle_item(p, args, 3), error)))
        return wrong;
    if (!whole(&t->offset, pickle_item(p, args, 1)))
        return say(error, SENTENCE, "found %s as offset, wanted a number from 0 on", kind(pickle_item(p, args, 1)));
    t->type = s.type;
    t->elements = s.elements;
    snprintf(t->type_name, sizeof t->type_name, "%s", s.type_name);
    if (call->what->use == GLOBAL_TENSOR_DTYPE) {    /* types without a storage type of their own: float8 and the like */
        const struct value *dtype = pickle_item(p, args, 6);
        t->type = TENSOR_OTHER;
        if (dtype && dtype->kind == VALUE_GLOBAL)
            snprintf(t->type_name, sizeof t->type_name, "%s", dtype->what->name);
    }
    return place->find(t, &s, place->context, error);
}

/* The tensor inside a parameter inside a parameter ... */
static const struct value *unwrap(const struct pickle *p, const struct value *v)
{
    for (int k = 0; k < PICKLE_DEPTH && v && v->kind == VALUE_CALL && v->what->use == GLOBAL_PARAMETER; k++)
        v = pickle_item(p, &p->values[v->first], 0);
    return v;
}

/* ---- from dict to dict ---- */

struct walk {
    struct checkpoint *c;
    const struct pickle *p;
    const struct torch_place *place;
    char path[CHECKPOINT_NAME + 1];
    size_t entries;
    uint32_t named;          /* bit k is set if an object of foreign name k has been named with its key */
};

static const char *dict(struct walk *w, const struct value *v, size_t length, int depth)
{
    const struct pickle *p = w->p;
    char error[SENTENCE], shown[SHOWN];
    const char *wrong = NULL;

    if (depth > TORCH_NESTED)
        return say(w->c->error, SENTENCE, "%s: dicts nested deeper than %d", show_name(shown, w->path, length), TORCH_NESTED);
    for (uint32_t cell = v->first; cell && !wrong; cell = p->cells[p->cells[cell].next].next) {
        const struct value *key = &p->values[p->cells[cell].value];
        const struct value *item = unwrap(p, &p->values[p->cells[p->cells[cell].next].value]);
        if (++w->entries > TORCH_ENTRIES)    /* dicts that share dicts can be very many */
            return say(w->c->error, SENTENCE, "more than %zu entries in its dicts", TORCH_ENTRIES);
        int named = key->kind == VALUE_TEXT && item;
        if (!named || (item->kind != VALUE_DICT && item->kind != VALUE_CALL && item->kind != VALUE_OBJECT))
            continue;
        size_t dot = length && key->length ? 1 : 0, next = length + dot + key->length;
        if (next >= CHECKPOINT_NAME)
            return say(w->c->error, SENTENCE, "%s: its entries have names of more than %d bytes", show_name(shown, w->path, length), CHECKPOINT_NAME - 1);
        if (dot)
            w->path[length] = '.';
        memcpy(w->path + length + dot, key->text, key->length);
        if (item->kind == VALUE_OBJECT) {
            checkpoint_skip(w->c, w->path, next, p->foreign[item->foreign]);
            w->named |= UINT32_C(1) << item->foreign;
        } else if (item->kind == VALUE_DICT) {
            wrong = dict(w, item, next, depth + 1);
        } else if (item->what->use != GLOBAL_HARMLESS || !strcmp(item->what->name, "_rebuild_sparse_tensor")) {
            struct tensor *t = checkpoint_add(w->c, w->path, next);
            if (!t)
                return w->c->error;
            if ((wrong = tensor(t, p, item, w->place, error)))
                wrong = say(w->c->error, SENTENCE, "%.90s: %.220s", show_name(shown, w->path, next), error);
        }
    }
    return wrong;
}

const char *torch_tensors(struct checkpoint *c, const struct pickle *p, uint32_t root, const struct torch_place *place)
{
    struct walk w = { .c = c, .p = p, .place = place };
    const struct value *v = &p->values[root];

    if (v->kind == VALUE_OBJECT)
        return say(c->error, SENTENCE, "%s: found an object of %.80s, wanted a dict of tensors: save model.state_dict()", p->name, p->foreign[v->foreign]);
    if (v->kind != VALUE_DICT)
        return say(c->error, SENTENCE, "%s: found %s, wanted a dict of tensors", p->name, kind(v));
    const char *wrong = dict(&w, v, 0, 0);
    for (uint32_t k = 0; k < p->foreign_count && !wrong; k++)    /* inside lists and other objects */
        if (p->foreign_objects & ~w.named & UINT32_C(1) << k)
            checkpoint_skip(c, "elsewhere", 9, p->foreign[k]);
    return wrong;
}
