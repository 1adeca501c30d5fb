/* SPDX-License-Identifier: MIT */
/*
 * The data in a Python pickle (protocols 2 to 4), as far as torch.save() needs
 * them. Nothing is ever imported, called or built: a call of one of a few known
 * names becomes a value that says so, and its meaning is the caller's business.
 * Every other opcode and every other name is refused by its name.
 */
#ifndef QKVEC_PICKLE_H
#define QKVEC_PICKLE_H

#include <stddef.h>
#include <stdint.h>

#include "../store/text.h"

#define PICKLE_BYTES ((size_t)64 << 20)     /* of one pickle */
#define PICKLE_VALUES ((size_t)1 << 22)     /* of all that one struct pickle has read */
#define PICKLE_STACK ((size_t)1 << 16)
#define PICKLE_DEPTH 64                     /* of values inside values */

enum value_kind {
    VALUE_NONE, VALUE_BOOL, VALUE_INT,      /* number */
    VALUE_LONG,                             /* more than 64 bits: text holds them, little endian */
    VALUE_FLOAT, VALUE_BYTES,
    VALUE_TEXT,                             /* text, inside the pickle */
    VALUE_TUPLE, VALUE_LIST,                /* cells from first */
    VALUE_DICT,                             /* cells from first: key, value, key, value, ... */
    VALUE_GLOBAL,                           /* what */
    VALUE_CALL,                             /* what, first: the tuple of arguments */
    VALUE_PERSISTENT,                       /* first: the tuple that names an object outside */
    VALUE_KINDS
};

/* Known names, by what they are good for. */
enum global_use {
    GLOBAL_DICT,             /* OrderedDict */
    GLOBAL_TENSOR,           /* rebuild_tensor: storage, offset, size, stride, ... */
    GLOBAL_TENSOR_DTYPE,     /* the same, with a dtype as argument 6 */
    GLOBAL_PARAMETER,        /* rebuild_parameter: tensor, ... */
    GLOBAL_STORAGE,          /* a type of storage */
    GLOBAL_DTYPE,
    GLOBAL_HARMLESS          /* a value that no tensor needs */
};

struct global {
    const char *module, *name;
    enum global_use use;
};

struct value {
    unsigned char kind, depth;
    uint32_t count;                                       /* cells */
    union {
        int64_t number;
        struct { const unsigned char *text; size_t length; };
        struct { const struct global *what; uint32_t first, last; };
    };
};

struct cell {
    uint32_t value, next;    /* next 0: the last one */
};

/* Values and cells are numbers into arrays; 0 is none. */
struct pickle {
    const char *name;        /* of the pickle, for sentences */
    char *error;             /* of SENTENCE bytes */
    const unsigned char *bytes;
    size_t length, at, opcode_at;
    struct value *values;
    struct cell *cells;
    uint32_t *stack, *memo;
    size_t value_count, value_room, cell_count, cell_room, height, stack_room, memo_count, memo_room, mark_count;
    size_t marks[PICKLE_DEPTH];
    unsigned protocol;
};

void pickle_start(struct pickle *p, const char *name, char error[SENTENCE]);

/* Read one pickle; *used bytes of it. The bytes must stay. NULL and its value
 * in *result, or what is wrong. Values of earlier runs stay as well. */
const char *pickle_run(uint32_t *result, size_t *used, struct pickle *p, const void *bytes, size_t length);

/* Argument number k of a tuple or list; NULL where there is none. */
const struct value *pickle_item(const struct pickle *p, const struct value *list, size_t k);

/* "a tuple", "a dict", ... */
const char *pickle_kind_name(unsigned kind);

int pickle_text_is(const struct value *v, const char *text);
void pickle_free(struct pickle *p);

/* ---- of pickle.c and pickle_name.c ---- */

/* "data.pkl: at byte 17: ..." Returns p->error. */
const char *pickle_refuse(struct pickle *p, const char *format, ...) QKVEC_PRINTF(2, 3);

/* The known global of that name, or NULL after a refusal. */
const struct global *pickle_global(struct pickle *p, const unsigned char *module, size_t module_length,
                                   const unsigned char *name, size_t name_length);

/* "REDUCE"; "0xff" is written into text where there is no such opcode. */
const char *pickle_opcode_name(char text[8], unsigned opcode);

#endif
