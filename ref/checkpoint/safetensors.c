/* SPDX-License-Identifier: MIT */
/* .safetensors: 8 bytes of length, a JSON header { "name": { "dtype", "shape",
 * "data_offsets" }, ... } of that length, and the numbers, without gaps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/bytes.h"
#include "../store/grow.h"
#include "checkpoint.h"
#include "../corpus/json.h"

#define HEADER_BYTES 100000000u    /* what the format itself allows */

/* From where to where a tensor's bytes are, to see that all are spoken for once. */
struct span {
    uint64_t from, to;
};

struct spans {
    struct span *span;
    size_t count, room;
};

static int whole(struct json *j, uint64_t *x)
{
    char text[24], *end;
    size_t length;

    if (!json_text(j, text, sizeof text))
        return 0;
    length = strspn(text, "0123456789");
    if (!length || length > 18 || text[length])
        return !(j->failed = 1);
    *x = strtoull(text, &end, 10);
    return 1;
}

/* Up to most numbers in an array; -1 on a mistake. */
static int numbers(struct json *j, uint64_t *x, int most)
{
    int n = 0;

    if (!json_enter(j, '['))
        return -1;
    while (json_element(j)) {
        if (n == most || !whole(j, &x[n]))
            return -1;
        n++;
    }
    return j->failed ? -1 : n;
}

static int entry(struct json *j, struct tensor *t, struct span *span)
{
    enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4, ALL = 7 };
    uint64_t shape[TENSOR_DIMS], offsets[2];
    char key[32];
    int seen = 0, one;

    if (!json_enter(j, '{'))
        return 0;
    while (json_key(j, key, sizeof key)) {
        if (!strcmp(key, "dtype") && json_text(j, t->type_name, sizeof t->type_name)) {
            one = DTYPE;
        } else if (!strcmp(key, "shape") && (t->ndim = numbers(j, shape, TENSOR_DIMS)) >= 0) {
            one = SHAPE;
            for (int k = 0; k < t->ndim; k++)
                t->shape[k] = (size_t)shape[k];
        } else if (!strcmp(key, "data_offsets") && numbers(j, offsets, 2) == 2) {
            one = OFFSETS;
            *span = (struct span){ offsets[0], offsets[1] };
        } else
            return 0;
        if (seen & one)
            return 0;
        seen |= one;
    }
    return !j->failed && seen == ALL;
}

static const char *tensor(struct checkpoint *c, struct tensor *t, struct span span, size_t start)
{
    static const struct { const char *name; enum tensor_type type; } types[] = {
        { "F16", TENSOR_F16 }, { "BF16", TENSOR_BF16 }, { "F32", TENSOR_F32 }, { "F64", TENSOR_F64 },
    };
    char shown[SHOWN], shape[192];
    uint64_t room = c->length - start, wanted;

    show_name(shown, t->name, strlen(t->name));
    if (span.from > span.to || span.to > room)
        return say(c->error, SENTENCE, "%s: bytes %llu to %llu of %llu", shown, (unsigned long long)span.from,
                   (unsigned long long)span.to, (unsigned long long)room);
    t->type = TENSOR_OTHER;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (!strcmp(t->type_name, types[k].name))
            t->type = types[k].type;
    if (t->type == TENSOR_OTHER)
        return NULL;
    wanted = tensor_item(t->type);
    for (int k = 0; k < t->ndim; k++) {
        if (t->shape[k] && wanted > (UINT64_C(1) << 48) / t->shape[k])
            return say(c->error, SENTENCE, "%s: shape %.100s multiplies to more than 2^48 bytes", shown, tensor_shape_text(shape, t));
        wanted *= t->shape[k];
    }
    if (wanted != span.to - span.from)
        return say(c->error, SENTENCE, "%s: %s of shape %.100s takes %llu bytes, found %llu", shown, t->type_name, tensor_shape_text(shape, t),
                   (unsigned long long)wanted, (unsigned long long)(span.to - span.from));
    t->data = c->bytes + start + span.from;
    t->elements = (size_t)wanted / tensor_item(t->type);
    tensor_contiguous(t);
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

static const char *check_spans(struct spans *all, struct checkpoint *c, size_t start)
{
    uint64_t at = 0;

    if (all->count)
        qsort(all->span, all->count, sizeof *all->span, by_place);
    for (size_t k = 0; k < all->count; at = all->span[k++].to)
        if (all->span[k].from != at)
            return say(c->error, SENTENCE, "tensors overlap or leave a gap at byte %llu of the numbers", (unsigned long long)at);
    return at == c->length - start ? NULL : say(c->error, SENTENCE, "%llu bytes follow the last tensor", (unsigned long long)(c->length - start - at));
}

static const char *read_header(struct spans *all, struct checkpoint *c, struct json *j, size_t start)
{
    char name[CHECKPOINT_NAME], shown[SHOWN];
    const char *wrong;

    if (!json_enter(j, '{'))
        return say(c->error, SENTENCE, "header: no JSON object");
    while (json_key(j, name, sizeof name)) {
        struct span span = { 0, 0 };
        if (!strcmp(name, "__metadata__")) {
            json_skip(j);
            continue;
        }
        struct tensor *t = checkpoint_add(c, name, strlen(name));
        if (!t)
            return c->error;
        if (!entry(j, t, &span))
            return say(c->error, SENTENCE, "%s: wanted its dtype, a shape of at most %d dimensions and two data_offsets in the header",
                       show_name(shown, name, strlen(name)), TENSOR_DIMS);
        if ((wrong = tensor(c, t, span, start)))
            return wrong;
        struct span *spans = grow(all->span, &all->room, all->count, sizeof *spans);
        if (!spans)
            return say(c->error, SENTENCE, "not enough memory for its tensors");
        all->span = spans;
        all->span[all->count++] = span;
    }
    if (!json_end(j))
        return say(c->error, SENTENCE, "header: bad JSON at byte %zu, or a name of more than %d bytes", (size_t)(j->at - j->text), CHECKPOINT_NAME - 1);
    return check_spans(all, c, start);
}

const char *safetensors_read(struct checkpoint *c)
{
    uint64_t length = get64(c->bytes);
    struct spans all = { 0 };
    struct json j;

    if (length > HEADER_BYTES || length > c->length - 8)
        return say(c->error, SENTENCE, "header of %llu bytes in a file of %zu", (unsigned long long)length, c->length);
    json_start(&j, (const char *)c->bytes + 8, (size_t)length);
    const char *wrong = read_header(&all, c, &j, 8 + (size_t)length);
    free(all.span);
    return wrong;
}
