/* SPDX-License-Identifier: MIT */
/*
 * torch.save() before 1.6, or with _use_new_zipfile_serialization=False: five
 * pickles (a magic number, a version, facts about the machine, the object, the
 * list of storage keys), then each storage: its elements as 8 bytes, its bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "../store/bytes.h"
#include "torch.h"

struct place {
    struct torch_storage storage;
    size_t at;                       /* in the file; 0: not met yet */
};

struct places {
    struct place *place;
    size_t count;
    const unsigned char *bytes;
};

static int by_key(const void *a, const void *b)
{
    const struct torch_storage *x = &((const struct place *)a)->storage, *y = &((const struct place *)b)->storage;
    size_t n = x->key_length < y->key_length ? x->key_length : y->key_length;
    int order = n ? memcmp(x->key, y->key, n) : 0;

    return order ? order : (x->key_length > y->key_length) - (x->key_length < y->key_length);
}

static struct place *find(const struct places *all, const unsigned char *key, size_t length)
{
    struct place wanted = { .storage = { .key = key, .key_length = length } };

    return all->count ? bsearch(&wanted, all->place, all->count, sizeof wanted, by_key) : NULL;
}

/* Every storage that the object names, once. */
static const char *read_storages(struct places *all, const struct pickle *p, struct checkpoint *c)
{
    size_t room = 0, unique = 0;
    const char *wrong;
    char error[SENTENCE];

    for (size_t k = 0; k < p->value_count; k++)
        room += p->values[k].kind == VALUE_PERSISTENT;
    if (!(all->place = calloc(room ? room : 1, sizeof *all->place)))
        return say(c->error, SENTENCE, "not enough memory for its storages");
    for (size_t k = 0; k < p->value_count; k++) {
        if (p->values[k].kind != VALUE_PERSISTENT)
            continue;
        if ((wrong = torch_storage(&all->place[all->count++].storage, p, &p->values[k], error)))
            return say(c->error, SENTENCE, "%s: %.260s", p->name, error);
    }
    qsort(all->place, all->count, sizeof *all->place, by_key);
    for (size_t k = 0; k < all->count; k++)
        if (!unique || by_key(&all->place[unique - 1], &all->place[k]))
            all->place[unique++] = all->place[k];
    all->count = unique;
    return NULL;
}

/* The storages lie in the order of the list of keys. */
static const char *place_storages(struct places *all, const struct pickle *p, const struct value *keys, size_t at, struct checkpoint *c)
{
    char shown[SHOWN];

    if (keys->kind != VALUE_LIST)
        return say(c->error, SENTENCE, "storage keys: found %s, wanted a list", pickle_kind_name(keys->kind));
    for (uint32_t cell = keys->first; cell; cell = p->cells[cell].next) {
        const struct value *key = &p->values[p->cells[cell].value];
        struct place *place = key->kind == VALUE_TEXT ? find(all, key->text, key->length) : NULL;
        if (!place || place->at)
            return say(c->error, SENTENCE, "storage keys: %s, which the object does not name, or twice",
                       key->kind == VALUE_TEXT ? show_name(shown, key->text, key->length) : pickle_kind_name(key->kind));
        const struct torch_storage *s = &place->storage;
        show_name(shown, s->key, s->key_length);
        if (c->length - at < 8)
            return say(c->error, SENTENCE, "storage %s: the file ends before it", shown);
        uint64_t elements = get64(c->bytes + at);
        at += 8;
        if (elements != s->elements)
            return say(c->error, SENTENCE, "storage %s: found %llu elements, the object says %zu", shown, (unsigned long long)elements, s->elements);
        if (s->elements > (c->length - at) / s->item)
            return say(c->error, SENTENCE, "storage %s: wants %zu bytes, the file has %zu more", shown, s->elements * s->item, c->length - at);
        place->at = at;
        at += s->elements * s->item;
    }
    return at == c->length ? NULL : say(c->error, SENTENCE, "%zu bytes follow the last storage", c->length - at);
}

static const char *find_storage(struct tensor *t, const struct torch_storage *s, void *context, char error[SENTENCE])
{
    const struct places *all = context;
    const struct place *place = find(all, s->key, s->key_length);
    char shown[SHOWN];

    show_name(shown, s->key, s->key_length);
    if (!place || !place->at)
        return say(error, SENTENCE, "its storage %s is not in the file", shown);
    if (place->storage.elements != s->elements || place->storage.item != s->item)
        return say(error, SENTENCE, "its storage %s has %zu elements of %s, wanted %zu of %s", shown,
                   place->storage.elements, place->storage.type_name, s->elements, s->type_name);
    t->data = all->bytes + place->at;
    return NULL;
}

static int is_magic(const struct value *v)
{
    return v->kind == VALUE_LONG && v->length == 10 && !memcmp(v->text, "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
}

static const char *check_machine(const struct pickle *p, const struct value *v, struct checkpoint *c)
{
    for (uint32_t cell = v->kind == VALUE_DICT ? v->first : 0; cell; cell = p->cells[p->cells[cell].next].next) {
        const struct value *key = &p->values[p->cells[cell].value], *item = &p->values[p->cells[p->cells[cell].next].value];
        if (pickle_text_is(key, "little_endian") && item->kind == VALUE_BOOL && !item->number)
            return say(c->error, SENTENCE, "found big endian storages, wanted little endian ones");
    }
    return NULL;
}

const char *torch_legacy_read(struct checkpoint *c)
{
    static const char *const names[5] = { "magic number", "protocol version", "machine", "object", "storage keys" };
    struct places all = { .bytes = c->bytes };
    struct pickle p;
    uint32_t value[5] = { 0 };
    size_t at = 0, used;
    const char *wrong = NULL;

    pickle_start(&p, "", c->error);
    for (int k = 0; k < 5 && !wrong; k++) {
        p.name = names[k];
        wrong = pickle_run(&value[k], &used, &p, c->bytes + at, c->length - at);
        if (wrong)
            break;
        at += used;
        if (k == 0 && !is_magic(&p.values[value[0]]))
            wrong = say(c->error, SENTENCE, "a pickle that torch.save() did not write: its magic number is missing");
        if (k == 1 && (p.values[value[1]].kind != VALUE_INT || p.values[value[1]].number != 1001))
            wrong = say(c->error, SENTENCE, "protocol version: wanted 1001");
        if (k == 2)
            wrong = check_machine(&p, &p.values[value[2]], c);
        if (k == 3)
            wrong = read_storages(&all, &p, c);
    }
    if (!wrong)
        wrong = place_storages(&all, &p, &p.values[value[4]], at, c);
    p.name = names[3];
    if (!wrong)
        wrong = torch_tensors(c, &p, value[3], &(struct torch_place){ find_storage, &all });
    pickle_free(&p);
    free(all.place);
    return wrong;
}
