/* SPDX-License-Identifier: MIT */
/*
 * The data in a Python pickle (protocols 2 to 5), as far as torch.save() needs
 * them. Nothing is ever imported, called or built. A call of one of a few known
 * names becomes a value that records it, for the caller to interpret. An object
 * of any other name becomes a value without content that keeps the name alone;
 * names that run code (os.system, eval) are refused, and so are opcodes that no
 * checkpoint needs.
 */
#ifndef QKVEC_PICKLE_H
#define QKVEC_PICKLE_H

#include <stddef.h>
#include <stdint.h>

#include "../store/text.h"

#define PICKLE_BYTES ((size_t)64 << 20)     /* of one pickle */
#define PICKLE_VALUES ((size_t)1 << 22)     /* of all that one struct pickle has read */
#define PICKLE_STACK ((size_t)1 << 16)
#define PICKLE_FOREIGN 32                   /* names that are not known */
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
    VALUE_CLASS,                            /* a name that is not known: foreign */
    VALUE_OBJECT,                           /* made by a name that is not known, without content: foreign */
    VALUE_KINDS
};

/* Known names, by what they are good for. */
enum global_use {
    GLOBAL_DICT,             /* OrderedDict */
    GLOBAL_DEFAULT_DICT,     /* defaultdict(factory) */
    GLOBAL_FROM_TYPE,        /* _rebuild_from_type_v2(function, type, arguments, state) */
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
        uint32_t foreign;                                 /* number of a name in foreign[] */
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
    char foreign[PICKLE_FOREIGN][SHOWN];    /* "argparse.Namespace"; the last one stands for all further ones */
    uint32_t foreign_count, foreign_objects;    /* the latter: bit k is set if an object of name k was met */
};

void pickle_start(struct pickle *p, const char *name, char error[SENTENCE]);

/* Read one pickle, *used bytes of it, and set *result to its value. The bytes
 * must stay, and values of earlier runs stay as well. Returns NULL or an error message. */
const char *pickle_run(uint32_t *result, size_t *used, struct pickle *p, const void *bytes, size_t length);

/* Return item k of a tuple or list; NULL if there is none. */
const struct value *pickle_item(const struct pickle *p, const struct value *list, size_t k);

/* "a tuple", "a dict", ... */
const char *pickle_kind_name(unsigned kind);

int pickle_text_is(const struct value *v, const char *text);
void pickle_free(struct pickle *p);

/* ---- for pickle.c and pickle_name.c ---- */

/* Write "data.pkl: at byte 17: ..." into p->error and return it. */
const char *pickle_refuse(struct pickle *p, const char *format, ...) QKVEC_PRINTF(2, 3);

/* Make the value of a name: VALUE_GLOBAL or VALUE_CLASS. Returns NULL, or an
 * error message for a name that runs code. */
const char *pickle_global(struct value *v, struct pickle *p, const unsigned char *module, size_t module_length,
                          const unsigned char *name, size_t name_length);

/* Return "REDUCE"; writes "0xff" into text if there is no such opcode. */
const char *pickle_opcode_name(char text[8], unsigned opcode);

#endif
