/* SPDX-License-Identifier: MIT */
#include "pickle.h"

#include <string.h>

#include "../store/bytes.h"
#include "pickle_opcode.h"
#include "pickle_stack.h"

/* ---- names and what is done with them ---- */

static const char *push_global(struct pickle *p, const unsigned char *module, size_t module_length,
                               const unsigned char *name, size_t name_length)
{
    struct value v;
    const char *wrong = pickle_global(&v, p, module, module_length, name, name_length);

    return wrong ? wrong : stack_push(p, v);
}

/* GLOBAL: two lines of text. */
static const char *global_lines(struct pickle *p)
{
    const unsigned char *line[2], *end[2];

    for (int k = 0; k < 2; k++) {
        line[k] = p->bytes + p->at;
        end[k] = memchr(line[k], '\n', p->length - p->at);
        if (!end[k])
            return pickle_refuse(p, "a name breaks off");
        p->at += (size_t)(end[k] - line[k]) + 1;
    }
    return push_global(p, line[0], (size_t)(end[0] - line[0]), line[1], (size_t)(end[1] - line[1]));
}

static const char *stack_global(struct pickle *p)
{
    const char *wrong = stack_need(p, 2);

    if (wrong)
        return wrong;
    struct value module = *stack_top(p, 1), name = *stack_top(p, 0);
    if (module.kind != VALUE_TEXT || name.kind != VALUE_TEXT)
        return pickle_refuse(p, "found a name made of %s and %s, wanted two strings", pickle_kind_name(module.kind), pickle_kind_name(name.kind));
    p->height -= 2;
    return push_global(p, module.text, module.length, name.text, name.length);
}

/* OrderedDict(), and of Python 2 OrderedDict([[key, value], ...]). */
static const char *ordered_dict(struct pickle *p, uint32_t arguments)
{
    const struct value *args = &p->values[arguments], *list = pickle_item(p, args, 0);
    uint32_t cell = list && list->kind == VALUE_LIST ? list->first : 0;
    const char *wrong = NULL;

    if (args->count > 1 || (list && list->kind != VALUE_LIST))
        return pickle_refuse(p, "an OrderedDict made from %s, wanted nothing or a list of pairs", list ? pickle_kind_name(list->kind) : "nothing");
    wrong = stack_container(p, VALUE_DICT);
    for (; cell && !wrong; cell = p->cells[cell].next) {
        struct value pair = p->values[p->cells[cell].value];
        if ((pair.kind != VALUE_LIST && pair.kind != VALUE_TUPLE) || pair.count != 2)
            return pickle_refuse(p, "an OrderedDict made from a list with %s in it, wanted pairs", pickle_kind_name(pair.kind));
        uint32_t key = p->cells[pair.first].value, item = p->cells[p->cells[pair.first].next].value;
        if (!(wrong = stack_again(p, key)) && !(wrong = stack_again(p, item)))
            wrong = stack_add(p, p->height - 2, VALUE_DICT);
    }
    return wrong;
}

/* Replace so many values by an object without content, made by a name that is not known. */
static const char *push_object(struct pickle *p, size_t values, uint32_t foreign)
{
    p->height -= values;
    p->foreign_objects |= UINT32_C(1) << foreign;
    return stack_push(p, (struct value){ .kind = VALUE_OBJECT, .foreign = foreign });
}

/* Record the call that _rebuild_from_type_v2(function, type, arguments, state)
 * makes: a tensor of a subclass. */
static const char *reduce_from_type(struct pickle *p, uint32_t arguments)
{
    const struct value *args = &p->values[arguments], *f = pickle_item(p, args, 0), *inner = pickle_item(p, args, 2);

    if (!f || f->kind != VALUE_GLOBAL || !inner || inner->kind != VALUE_TUPLE)
        return pickle_refuse(p, "_rebuild_from_type_v2 calls %s with %s", f ? pickle_kind_name(f->kind) : "nothing", inner ? pickle_kind_name(inner->kind) : "nothing");
    const struct global *what = f->what;
    uint32_t tuple = (uint32_t)(inner - p->values);
    if (what->use == GLOBAL_STORAGE || what->use == GLOBAL_DTYPE || what->use == GLOBAL_DICT || what->use == GLOBAL_DEFAULT_DICT || what->use == GLOBAL_FROM_TYPE)
        return pickle_refuse(p, "_rebuild_from_type_v2 calls %s, which is not done", what->name);
    return stack_push(p, (struct value){ .kind = VALUE_CALL, .depth = (unsigned char)(args->depth + 1), .what = what, .first = tuple });
}

/* REDUCE is f(*args) in Python. Only record it. */
static const char *reduce(struct pickle *p)
{
    const char *wrong = stack_need(p, 2);

    if (wrong)
        return wrong;
    struct value f = *stack_top(p, 1), args = *stack_top(p, 0);
    if (f.kind == VALUE_CLASS)
        return push_object(p, 2, f.foreign);
    if (f.kind != VALUE_GLOBAL || args.kind != VALUE_TUPLE || f.what->use == GLOBAL_STORAGE || f.what->use == GLOBAL_DTYPE)
        return pickle_refuse(p, "REDUCE calls %s%s%s with %s, which is not done", pickle_kind_name(f.kind),
                             f.kind == VALUE_GLOBAL ? " " : "", f.kind == VALUE_GLOBAL ? f.what->name : "", pickle_kind_name(args.kind));
    uint32_t arguments = p->stack[p->height - 1];
    p->height -= 2;
    if (f.what->use == GLOBAL_DICT)
        return ordered_dict(p, arguments);
    if (f.what->use == GLOBAL_DEFAULT_DICT)    /* its factory makes no tensor */
        return stack_container(p, VALUE_DICT);
    if (f.what->use == GLOBAL_FROM_TYPE)
        return reduce_from_type(p, arguments);
    return stack_push(p, (struct value){ .kind = VALUE_CALL, .depth = (unsigned char)(args.depth + 1), .what = f.what, .first = arguments });
}

/* NEWOBJ is cls.__new__(cls, *args), NEWOBJ_EX the same with keywords. */
static const char *new_object(struct pickle *p, size_t values)
{
    const char *wrong = stack_need(p, values);

    if (wrong)
        return wrong;
    struct value *cls = stack_top(p, values - 1);
    if (cls->kind == VALUE_GLOBAL && (cls->what->use == GLOBAL_DICT || cls->what->use == GLOBAL_DEFAULT_DICT)) {
        p->height -= values;
        return stack_container(p, VALUE_DICT);
    }
    if (cls->kind != VALUE_CLASS)
        return pickle_refuse(p, "NEWOBJ of %s, which is not done", pickle_kind_name(cls->kind));
    return push_object(p, values, cls->foreign);
}

/* OBJ is cls(*args), with a mark below them. */
static const char *object_from_mark(struct pickle *p)
{
    size_t from;
    const char *wrong = stack_unmark(&from, p);

    if (wrong)
        return wrong;
    if (from == p->height || p->values[p->stack[from]].kind != VALUE_CLASS)
        return pickle_refuse(p, "OBJ of %s, which is not done", from == p->height ? "nothing" : pickle_kind_name(p->values[p->stack[from]].kind));
    return push_object(p, p->height - from, p->values[p->stack[from]].foreign);
}

/* BUILD is obj.__setstate__(state). A state_dict carries its _metadata this way,
 * which no tensor needs; an object without content stays so. */
static const char *build(struct pickle *p)
{
    const char *wrong = stack_need(p, 2);

    if (wrong)
        return wrong;
    unsigned object = stack_top(p, 1)->kind, state = stack_top(p, 0)->kind;
    if (object != VALUE_OBJECT && (object != VALUE_DICT || state != VALUE_DICT))
        return pickle_refuse(p, "BUILD of %s with %s, which is not done", pickle_kind_name(object), pickle_kind_name(state));
    p->height--;
    return NULL;
}

/* Put the values from a place of the stack on into the container below them.
 * A subclass of list or dict is an object, and takes them without keeping them. */
static const char *add_items(struct pickle *p, size_t from, enum value_kind kind)
{
    if (from && from <= p->height && (!p->mark_count || from > p->marks[p->mark_count - 1]) && p->values[p->stack[from - 1]].kind == VALUE_OBJECT) {
        p->height = from;
        return NULL;
    }
    return stack_add(p, from, kind);
}

/* Make a set: an object without content. */
static const char *push_set(struct pickle *p, size_t values)
{
    struct value v;
    const char *wrong = pickle_global(&v, p, (const unsigned char *)"builtins", 8, (const unsigned char *)"set", 3);

    return wrong ? wrong : push_object(p, values, v.foreign);
}

/* Drop or repeat the value on top. */
static const char *pop_or_repeat(struct pickle *p, int repeat)
{
    const char *wrong = stack_need(p, 1);

    if (wrong)
        return wrong;
    if (repeat)
        return stack_again(p, p->stack[p->height - 1]);
    p->height--;
    return NULL;
}

static const char *persistent(struct pickle *p)
{
    const char *wrong = stack_need(p, 1);

    if (wrong)
        return wrong;
    struct value id = *stack_top(p, 0);
    if (id.kind != VALUE_TUPLE)
        return pickle_refuse(p, "a persistent id is %s, wanted a tuple", pickle_kind_name(id.kind));
    uint32_t which = p->stack[--p->height];
    return stack_push(p, (struct value){ .kind = VALUE_PERSISTENT, .depth = (unsigned char)(id.depth + 1), .first = which });
}

/* ---- opcodes ---- */

/* Return the next n bytes, or NULL after a refusal. */
static const unsigned char *next_bytes(struct pickle *p, size_t n)
{
    const unsigned char *bytes = p->bytes + p->at;

    if (n > p->length - p->at) {
        pickle_refuse(p, "wants %zu more bytes, found %zu", n, p->length - p->at);
        return NULL;
    }
    p->at += n;
    return bytes;
}

/* Push text or bytes: a length of 1, 4 or 8 bytes, then so many bytes. */
static const char *counted(struct pickle *p, enum value_kind kind, size_t width)
{
    const unsigned char *b = next_bytes(p, width);
    uint64_t n = !b ? 0 : width == 1 ? b[0] : width == 4 ? get32(b) : get64(b);

    if (b && n > p->length)
        return pickle_refuse(p, "wants %llu more bytes, found %zu", (unsigned long long)n, p->length - p->at);
    if (!b || !(b = next_bytes(p, (size_t)n)))
        return p->error;
    return stack_push(p, (struct value){ .kind = (unsigned char)kind, .text = b, .length = (size_t)n });
}

/* Push a whole number: a length of 1 or 4 bytes, then two's complement in its shortest form. */
static const char *long_number(struct pickle *p, size_t width)
{
    const unsigned char *b = next_bytes(p, width);
    size_t n = !b ? 0 : width == 1 ? b[0] : get32(b);
    uint64_t number = 0;

    if (!b || !(b = next_bytes(p, n)))
        return p->error;
    if (n > 8)
        return stack_push(p, (struct value){ .kind = VALUE_LONG, .text = b, .length = n });
    for (size_t k = 0; k < 8; k++)
        number |= (uint64_t)(k < n ? b[k] : n && b[n - 1] & 128 ? 255 : 0) << 8 * k;
    int64_t signed_number;
    memcpy(&signed_number, &number, sizeof number);
    return stack_number(p, VALUE_INT, signed_number);
}

static size_t operand_bytes(unsigned opcode)
{
    switch (opcode) {
    case OP_BININT: case OP_LONG_BINPUT: case OP_LONG_BINGET: return 4;
    case OP_BININT2: return 2;
    case OP_FRAME: case OP_BINFLOAT: return 8;
    default: return 1;
    }
}

/* Carry out an opcode with a number of 1, 2, 4 or 8 bytes after it. */
static const char *numbered(struct pickle *p, unsigned opcode)
{
    const unsigned char *b = next_bytes(p, operand_bytes(opcode));

    if (!b)
        return p->error;
    switch (opcode) {
    case OP_BININT1: return stack_number(p, VALUE_INT, b[0]);
    case OP_BININT2: return stack_number(p, VALUE_INT, get16(b));
    case OP_BININT: return stack_number(p, VALUE_INT, (int64_t)get32(b) - (b[3] & 128 ? (int64_t)1 << 32 : 0));
    case OP_BINFLOAT: return stack_number(p, VALUE_FLOAT, 0);
    case OP_BINPUT: return memo_put(p, b[0]);
    case OP_LONG_BINPUT: return memo_put(p, get32(b));
    case OP_BINGET: return memo_get(p, b[0]);
    case OP_LONG_BINGET: return memo_get(p, get32(b));
    case OP_PROTO:
        p->protocol = b[0];
        return b[0] < 2 || b[0] > 5 ? pickle_refuse(p, "protocol %u, wanted 2 to 5", b[0]) : NULL;
    default: return NULL;    /* FRAME: the length of the rest, which is all there */
    }
}

/* Carry out an opcode that makes a value out of the bytes after it. */
static const char *literal(struct pickle *p, unsigned opcode)
{
    switch (opcode) {
    case OP_NONE: return stack_number(p, VALUE_NONE, 0);
    case OP_NEWTRUE: return stack_number(p, VALUE_BOOL, 1);
    case OP_NEWFALSE: return stack_number(p, VALUE_BOOL, 0);
    case OP_LONG1: return long_number(p, 1);
    case OP_LONG4: return long_number(p, 4);
    case OP_SHORT_BINUNICODE: case OP_SHORT_BINSTRING: return counted(p, VALUE_TEXT, 1);    /* strings of Python 2 too */
    case OP_BINUNICODE: case OP_BINSTRING: return counted(p, VALUE_TEXT, 4);
    case OP_BINUNICODE8: return counted(p, VALUE_TEXT, 8);
    case OP_SHORT_BINBYTES: return counted(p, VALUE_BYTES, 1);
    case OP_BINBYTES: return counted(p, VALUE_BYTES, 4);
    case OP_BINBYTES8: case OP_BYTEARRAY8: return counted(p, VALUE_BYTES, 8);
    case OP_EMPTY_DICT: return stack_container(p, VALUE_DICT);
    case OP_EMPTY_LIST: return stack_container(p, VALUE_LIST);
    case OP_EMPTY_TUPLE: return stack_container(p, VALUE_TUPLE);
    case OP_EMPTY_SET: return push_set(p, 0);
    default: return numbered(p, opcode);
    }
}

static const char *step(struct pickle *p, unsigned opcode)
{
    char text[8];
    size_t from = p->height;
    const char *wrong = NULL;

    switch (opcode) {
    case OP_PROTO: case OP_FRAME: case OP_BININT: case OP_BININT1: case OP_BININT2: case OP_BINFLOAT: case OP_BINPUT: case OP_LONG_BINPUT:
    case OP_BINGET: case OP_LONG_BINGET: case OP_NONE: case OP_NEWTRUE: case OP_NEWFALSE: case OP_LONG1: case OP_LONG4: case OP_SHORT_BINUNICODE:
    case OP_SHORT_BINSTRING: case OP_BINUNICODE: case OP_BINSTRING: case OP_BINUNICODE8: case OP_SHORT_BINBYTES: case OP_BINBYTES: case OP_BINBYTES8:
    case OP_BYTEARRAY8: case OP_EMPTY_DICT: case OP_EMPTY_LIST: case OP_EMPTY_TUPLE: case OP_EMPTY_SET:
        return literal(p, opcode);
    case OP_MARK: return stack_mark(p);
    case OP_POP: case OP_DUP: return pop_or_repeat(p, opcode == OP_DUP);
    case OP_POP_MARK: if (!(wrong = stack_unmark(&from, p))) p->height = from; return wrong;
    case OP_TUPLE: return (wrong = stack_unmark(&from, p)) ? wrong : stack_tuple(p, from);
    case OP_TUPLE1: case OP_TUPLE2: case OP_TUPLE3:
        return (wrong = stack_need(p, opcode - OP_TUPLE1 + 1)) ? wrong : stack_tuple(p, p->height - (opcode - OP_TUPLE1 + 1));
    case OP_APPEND: return (wrong = stack_need(p, 2)) ? wrong : add_items(p, p->height - 1, VALUE_LIST);
    case OP_SETITEM: return (wrong = stack_need(p, 3)) ? wrong : add_items(p, p->height - 2, VALUE_DICT);
    case OP_APPENDS: case OP_ADDITEMS: return (wrong = stack_unmark(&from, p)) ? wrong : add_items(p, from, VALUE_LIST);
    case OP_SETITEMS: return (wrong = stack_unmark(&from, p)) ? wrong : add_items(p, from, VALUE_DICT);
    case OP_FROZENSET: return (wrong = stack_unmark(&from, p)) ? wrong : push_set(p, p->height - from);
    case OP_MEMOIZE: return memo_put(p, p->memo_count);
    case OP_GLOBAL: return global_lines(p);
    case OP_STACK_GLOBAL: return stack_global(p);
    case OP_REDUCE: return reduce(p);
    case OP_NEWOBJ: return new_object(p, 2);
    case OP_NEWOBJ_EX: return new_object(p, 3);
    case OP_OBJ: return object_from_mark(p);
    case OP_BUILD: return build(p);
    case OP_BINPERSID: return persistent(p);
    default: return pickle_refuse(p, "found the opcode %s, wanted only those of tensors in dicts", pickle_opcode_name(text, opcode));
    }
}

const char *pickle_run(uint32_t *result, size_t *used, struct pickle *p, const void *bytes, size_t length)
{
    const char *wrong = NULL;

    p->bytes = bytes;
    p->length = length;
    p->at = p->opcode_at = p->height = p->memo_count = p->mark_count = 0;
    if (!p->value_count) {    /* value 0 is none */
        if ((wrong = stack_number(p, VALUE_NONE, 0)))
            return wrong;
        p->height = 0;
    }
    if (length > PICKLE_BYTES)
        p->length = PICKLE_BYTES;
    if (!length || p->bytes[0] != OP_PROTO)
        return pickle_refuse(p, length ? "not a pickle of protocol 2 or later" : "empty, wanted a pickle");
    for (;;) {
        p->opcode_at = p->at;
        const unsigned char *opcode = next_bytes(p, 1);
        if (!opcode)
            return p->length == PICKLE_BYTES ? pickle_refuse(p, "more than %zu bytes", PICKLE_BYTES) : pickle_refuse(p, "ends without STOP");
        if (*opcode == OP_STOP)
            break;
        if ((wrong = step(p, *opcode)))
            return wrong;
    }
    if (p->height != 1 || p->mark_count)
        return pickle_refuse(p, "ends with %zu values and %zu marks, wanted one value", p->height, p->mark_count);
    *result = p->stack[0];
    *used = p->at;
    return NULL;
}
