/* SPDX-License-Identifier: MIT */
#include "npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

/* ---- the header: { 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } ---- */

struct cursor {
    const unsigned char *p, *end;
};

static void skip_space(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
        c->p++;
}

static int next_is(struct cursor *c, char wanted)
{
    skip_space(c);
    if (c->p == c->end || *c->p != (unsigned char)wanted)
        return 0;
    c->p++;
    return 1;
}

static int word_is(struct cursor *c, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n))
        return 0;
    c->p += n;
    return 1;
}

/* A quoted string, without escapes. Returns its length, or -1. */
static int string(const unsigned char **text, struct cursor *c)
{
    char quote = '\'';

    if (!next_is(c, quote) && !next_is(c, quote = '"'))
        return -1;
    *text = c->p;
    while (c->p < c->end && *c->p != (unsigned char)quote)
        if (*c->p++ == '\\')
            return -1;
    return c->p < c->end ? (int)(c->p++ - *text) : -1;
}

static const char *type_of(struct npz_array *a, struct cursor *c, char *error)
{
    const char *wanted = "wanted one of <f2 <f4 <f8 <i8 |b1 |u1";
    const unsigned char *text;
    char shown[SHOWN];
    int n;

    if (next_is(c, '['))
        return say(error, SENTENCE, "%s: found a structured type, %s", a->name, wanted);
    if ((n = string(&text, c)) < 0)
        return say(error, SENTENCE, "%s: bad .npy header: 'descr' is no string", a->name);
    for (int k = 0; k < NPZ_TYPES; k++)
        if (n == 3 && memcmp(text, npz_type_name((enum npz_type)k), 3) == 0) {
            a->type = (enum npz_type)k;
            return NULL;
        }
    show_name(shown, text, (size_t)n);
    if (n > 0 && text[0] == '>')
        return say(error, SENTENCE, "%s: found %s, which is big endian, %s", a->name, shown, wanted);
    if (n > 1 && text[1] == 'O')
        return say(error, SENTENCE, "%s: found %s, pickled Python objects, %s", a->name, shown, wanted);
    return say(error, SENTENCE, "%s: found type %s, %s", a->name, shown, wanted);
}

/* No product of the dimensions, not even one that a 0 among them would hide,
 * is larger than the limit of the whole file: others may multiply freely. */
static const char *shape_of(struct npz_array *a, struct cursor *c, char *error)
{
    uint64_t product = 1;

    if (!next_is(c, '('))
        return say(error, SENTENCE, "%s: bad .npy header: 'shape' is no tuple", a->name);
    a->ndim = 0;
    while (!next_is(c, ')')) {
        uint64_t x = 0;
        if (next_is(c, '-'))
            return say(error, SENTENCE, "%s: dimension %d is negative", a->name, a->ndim);
        const unsigned char *first = c->p;
        for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
            if ((x = 10 * x + (uint64_t)(*c->p - '0')) > NPZ_BYTES)
                return say(error, SENTENCE, "%s: dimension %d is larger than %zu", a->name, a->ndim, NPZ_BYTES);
        if (c->p == first)
            return say(error, SENTENCE, "%s: bad .npy header: dimension %d is no number", a->name, a->ndim);
        if (a->ndim == NPZ_DIMS)
            return say(error, SENTENCE, "%s: found more than %d dimensions, wanted at most that", a->name, NPZ_DIMS);
        a->shape[a->ndim++] = (size_t)x;
        product *= x ? x : 1;
        if (product > NPZ_BYTES)
            return say(error, SENTENCE, "%s: its shape multiplies to more than %zu", a->name, NPZ_BYTES);
        if (!next_is(c, ',')) {
            if (a->ndim == 1 || !next_is(c, ')'))    /* (3) is a number in Python */
                return say(error, SENTENCE, "%s: bad .npy header: 'shape' is no tuple", a->name);
            break;
        }
    }
    a->size = 1;
    for (int k = 0; k < NPZ_DIMS; k++) {
        if (k >= a->ndim)
            a->shape[k] = 1;
        a->size *= a->shape[k];
    }
    return NULL;
}

static const char *header(struct npz_array *a, struct cursor *c, char *error)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };
    const unsigned char *key;
    const char *wrong = NULL;
    char shown[SHOWN];
    int seen = 0;

    if (!next_is(c, '{'))
        return say(error, SENTENCE, "%s: bad .npy header: no dict", a->name);
    while (!next_is(c, '}')) {
        int n = string(&key, c), which;
        if (n < 0 || !next_is(c, ':'))
            return say(error, SENTENCE, "%s: bad .npy header: no 'key': value where one was due", a->name);
        which = n == 5 && memcmp(key, "descr", 5) == 0 ? DESCR
              : n == 13 && memcmp(key, "fortran_order", 13) == 0 ? ORDER
              : n == 5 && memcmp(key, "shape", 5) == 0 ? SHAPE : 0;
        if (!which || (seen & which))
            return say(error, SENTENCE, "%s: bad .npy header: %s key %s", a->name,
                       which ? "repeated" : "unknown", show_name(shown, key, (size_t)n));
        seen |= which;
        if (which == ORDER) {
            skip_space(c);
            if (word_is(c, "True"))
                return say(error, SENTENCE, "%s: found Fortran order, wanted C order (numpy.ascontiguousarray makes it)", a->name);
            if (!word_is(c, "False"))
                return say(error, SENTENCE, "%s: bad .npy header: 'fortran_order' is neither True nor False", a->name);
        } else if ((wrong = which == DESCR ? type_of(a, c, error) : shape_of(a, c, error)))
            return wrong;
        if (!next_is(c, ',')) {
            if (!next_is(c, '}'))
                return say(error, SENTENCE, "%s: bad .npy header: the dict does not end", a->name);
            break;
        }
    }
    skip_space(c);
    if (c->p != c->end)
        return say(error, SENTENCE, "%s: bad .npy header: something follows the dict", a->name);
    if (seen != ALL)
        return say(error, SENTENCE, "%s: bad .npy header: no '%s'", a->name,
                   !(seen & DESCR) ? "descr" : !(seen & ORDER) ? "fortran_order" : "shape");
    return NULL;
}

/* ---- the numbers ---- */

/* From the file's byte order to this machine's, or back: the same move, as
 * each is its own inverse. Forward copies may overlap. */
static void swap(unsigned char *to, const unsigned char *from, size_t count, size_t item)
{
    static const uint16_t one = 1;

    if (item == 1 || *(const unsigned char *)&one) {    /* this machine's order is the file's */
        memmove(to, from, count * item);
        return;
    }
    for (size_t i = 0; i < count; i++, to += item, from += item) {
        if (item == 8) {
            uint64_t x = get64(from);
            memcpy(to, &x, 8);
        } else if (item == 4) {
            uint32_t x = get32(from);
            memcpy(to, &x, 4);
        } else {
            uint16_t x = get16(from);
            memcpy(to, &x, 2);
        }
    }
}

static const char *take(struct npz_array *a, unsigned char *b, size_t length, char error[SENTENCE])
{
    char shown[SHOWN];
    size_t fixed, at;
    const char *wrong;

    if (length < 10 || memcmp(b, "\x93NUMPY", 6))
        return say(error, SENTENCE, "%s: not a .npy array (found %zu bytes that begin with %s)", a->name, length,
                   length ? show_name(shown, b, length < 6 ? length : 6) : "nothing");
    if (b[6] < 1 || b[6] > 3 || b[7] != 0)
        return say(error, SENTENCE, "%s: .npy version %u.%u, wanted 1.0 (2.0 and 3.0 are read too)", a->name, b[6], b[7]);
    fixed = b[6] == 1 ? 10 : 12;
    if (length < fixed)
        return say(error, SENTENCE, "%s: .npy breaks off after %zu bytes", a->name, length);
    uint32_t size = b[6] == 1 ? get16(b + 8) : get32(b + 8);
    if (size > 0xFFFF)
        return say(error, SENTENCE, "%s: .npy header of %lu bytes, wanted at most 65535", a->name, (unsigned long)size);
    if (size > length - fixed)
        return say(error, SENTENCE, "%s: .npy header of %lu bytes in a member of %zu", a->name, (unsigned long)size, length);
    at = fixed + size;
    if ((wrong = header(a, &(struct cursor){ b + fixed, b + at }, error)))
        return wrong;

    size_t item = npz_type_size(a->type);
    if (a->size > (length - at) / item || a->size * item != length - at)
        return say(error, SENTENCE, "%s: %s of shape %s takes %llu bytes, found %zu", a->name, npz_type_name(a->type),
                   npz_shape_text((char[128]){ 0 }, a), (unsigned long long)a->size * item, length - at);
    if (a->type == NPZ_B1)
        for (size_t i = 0; i < a->size; i++)
            if (b[at + i] > 1)
                return say(error, SENTENCE, "%s: bool %zu is stored as %u, wanted 0 or 1", a->name, i, b[at + i]);
    swap(b, b + at, a->size, item);
    return NULL;
}

const char *npy_take(struct npz_array *a, unsigned char *bytes, size_t length, char error[SENTENCE])
{
    const char *wrong = take(a, bytes, length, error);

    if (wrong) {
        free(bytes);
        a->data = NULL;
    } else
        a->data = bytes;
    return wrong;
}

/* As numpy writes it: the dict is filled with spaces until the numbers start
 * at a multiple of 64. */
unsigned char *npy_make(size_t *length, const struct npz_array *a)
{
    char shape[128], dict[256];
    size_t item = npz_type_size(a->type);
    size_t used = (size_t)snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                                   npz_type_name(a->type), npz_shape_text(shape, a));
    size_t head = (10 + used + 1 + 63) / 64 * 64;
    unsigned char *b = malloc(head + a->size * item);

    if (!b)
        return NULL;
    memcpy(b, "\x93NUMPY\1\0", 8);
    put16(b + 8, (unsigned)(head - 10));
    memcpy(b + 10, dict, used);
    memset(b + 10 + used, ' ', head - 10 - used);
    b[head - 1] = '\n';
    swap(b + head, a->data, a->size, item);
    *length = head + a->size * item;
    return b;
}
