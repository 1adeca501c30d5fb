/* SPDX-License-Identifier: MIT */
/* torch.save() since 1.6: a ZIP archive of NAME/data.pkl, NAME/data/KEY for
 * each storage, NAME/version and, in later versions, NAME/byteorder. */
#include <stdlib.h>
#include <string.h>

#include "../store/grow.h"
#include "torch.h"

struct members {
    struct zip_member *member;
    size_t count, room;
    const struct zip_member *pickle;
    size_t prefix;                    /* bytes of "NAME/" */
};

static int by_name(const void *a, const void *b)
{
    const struct zip_member *x = a, *y = b;
    size_t n = x->name_length < y->name_length ? x->name_length : y->name_length;
    int order = memcmp(x->name, y->name, n);

    return order ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

static const char *read_members(struct members *all, struct checkpoint *c)
{
    struct zip archive;
    struct zip_member m;
    int more = 1;
    const char *wrong = zip_open(&archive, c->bytes, c->length, c->error);

    while (!wrong && !(wrong = zip_next(&m, &more, &archive)) && more) {
        if (all->count == CHECKPOINT_TENSORS)
            return say(c->error, SENTENCE, "more than %zu members", CHECKPOINT_TENSORS);
        struct zip_member *members = grow(all->member, &all->room, all->count, sizeof *members);
        if (!members)
            return say(c->error, SENTENCE, "not enough memory for its members");
        all->member = members;
        all->member[all->count++] = m;
    }
    if (!wrong)
        qsort(all->member, all->count, sizeof *all->member, by_name);
    for (size_t k = 1; k < all->count && !wrong; k++)
        if (!by_name(&all->member[k - 1], &all->member[k]))
            wrong = say(c->error, SENTENCE, "%s: two members of this name", all->member[k].shown);
    return wrong;
}

/* The member of that name below the archive's prefix, or NULL. */
static const struct zip_member *find(const struct members *all, const char *folder, const unsigned char *name, size_t length)
{
    unsigned char path[CHECKPOINT_NAME * 2];
    size_t head = all->prefix, middle = strlen(folder);
    struct zip_member wanted = { .name = path, .name_length = head + middle + length };

    if (wanted.name_length > sizeof path)
        return NULL;
    memcpy(path, all->pickle->name, head);
    memcpy(path + head, folder, middle);
    if (length)
        memcpy(path + head + middle, name, length);
    return bsearch(&wanted, all->member, all->count, sizeof wanted, by_name);
}

static const char *find_storage(struct tensor *t, const struct torch_storage *s, void *context, char error[SENTENCE])
{
    const struct zip_member *m = find(context, "data/", s->key, s->key_length);
    char shown[SHOWN];

    if (!m)
        return say(error, SENTENCE, "its storage data/%s is not in the archive", show_name(shown, s->key, s->key_length));
    if (m->size != s->elements * s->item)
        return say(error, SENTENCE, "its storage %.80s has %zu bytes, wanted %zu for %zu elements of %s",
                   m->shown, m->size, s->elements * s->item, s->elements, s->type_name);
    t->packed = *m;
    return NULL;
}

static const char *check_archive(struct members *all, struct checkpoint *c)
{
    static const char pickle[] = "data.pkl";
    const size_t n = sizeof pickle - 1;
    const char *wrong = NULL;
    unsigned char *text;

    for (size_t k = 0; k < all->count; k++) {
        const struct zip_member *m = &all->member[k];
        if (m->name_length < n || memcmp(m->name + m->name_length - n, pickle, n) || (m->name_length > n && m->name[m->name_length - n - 1] != '/'))
            continue;
        if (all->pickle)
            return say(c->error, SENTENCE, "%.90s and %.90s: wanted one data.pkl", all->pickle->shown, m->shown);
        all->pickle = m;
        all->prefix = m->name_length - n;
    }
    if (!all->pickle || all->prefix >= CHECKPOINT_NAME)
        return say(c->error, SENTENCE, "no member data.pkl in a folder of its own");
    if (find(all, "constants.pkl", NULL, 0))
        return say(c->error, SENTENCE, "a TorchScript archive, which holds code; wanted the file of torch.save(model.state_dict(), FILE)");
    const struct zip_member *order = find(all, "byteorder", NULL, 0);
    if (!order)
        return NULL;
    if ((wrong = zip_unpack(&text, order, c->error)))
        return wrong;
    if (order->size != 6 || memcmp(text, "little", 6))
        wrong = say(c->error, SENTENCE, "%s: found another byte order than little", order->shown);
    free(text);
    return wrong;
}

const char *torch_zip_read(struct checkpoint *c)
{
    struct members all = { 0 };
    struct pickle p;
    unsigned char *bytes = NULL;
    uint32_t root;
    size_t used;
    const char *wrong = read_members(&all, c);

    if (!wrong)
        wrong = check_archive(&all, c);
    pickle_start(&p, wrong ? "" : all.pickle->shown, c->error);
    if (!wrong)
        wrong = zip_unpack(&bytes, all.pickle, c->error);
    if (!wrong)
        wrong = pickle_run(&root, &used, &p, bytes, all.pickle->size);
    if (!wrong && used != all.pickle->size)
        wrong = say(c->error, SENTENCE, "%s: %zu bytes follow the pickle", p.name, all.pickle->size - used);
    if (!wrong)
        wrong = torch_tensors(c, &p, root, &(struct torch_place){ find_storage, &all });
    pickle_free(&p);
    free(bytes);
    free(all.member);
    return wrong;
}
