/* SPDX-License-Identifier: MIT */
#include "pickle.h"

#include <string.h>

#include "../store/bytes.h"
#include "pickle_stack.h"

/* ---- names and what is done with them ---- */

static const char *push_global(struct pickle *p, const unsigned char *module, size_t module_length,
                               const unsigned char *name, size_t name_length)
{
    const struct global *g = pickle_global(p, module, module_length, name, name_length);

    return g ? stack_push(p, (struct value){ .kind = VALUE_GLOBAL, .what = g }) : p->error;
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

/* REDUCE: f(*args) in Python. Here it only says that somebody wanted it. */
static const char *reduce(struct pickle *p)
{
    const char *wrong = stack_need(p, 2);

    if (wrong)
        return wrong;
    struct value f = *stack_top(p, 1), args = *stack_top(p, 0);
    if (f.kind != VALUE_GLOBAL || args.kind != VALUE_TUPLE || f.what->use == GLOBAL_STORAGE || f.what->use == GLOBAL_DTYPE)
        return pickle_refuse(p, "REDUCE calls %s%s%s with %s, which is not done", pickle_kind_name(f.kind),
                             f.kind == VALUE_GLOBAL ? " " : "", f.kind == VALUE_GLOBAL ? f.what->name : "", pickle_kind_name(args.kind));
    uint32_t arguments = p->stack[p->height - 1];
    p->height -= 2;
    if (f.what->use == GLOBAL_DICT)
        return ordered_dict(p, arguments);
    return stack_push(p, (struct value){ .kind = VALUE_CALL, .depth = (unsigned char)(args.depth + 1), .what = f.what, .first = arguments });
}

/* BUILD: obj.__setstate__(state). A state_dict carries its _metadata this way,
 * which no tensor needs; on anything else it could be code. */
static const char *build(struct pickle *p)
{
    const char *wrong = stack_need(p, 2);

    if (wrong)
        return wrong;
    if (stack_top(p, 1)->kind != VALUE_DICT || stack_top(p, 0)->kind != VALUE_DICT)
        return pickle_refuse(p, "BUILD of %s with %s, which is not done", pickle_kind_name(stack_top(p, 1)->kind), pickle_kind_name(stack_top(p, 0)->kind));
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

/* The next n bytes, or NULL after a refusal. */
static const unsigned char *take(struct pickle *p, size_t n)
{
    const unsigned char *bytes = p->bytes + p->at;

    if (n > p->length - p->at) {
        pickle_refuse(p, "wants %zu more bytes, found %zu", n, p->length - p->at);
        return NULL;
    }
    p->at += n;
    return bytes;
}

/* A length of 1 or 4 bytes, then so many bytes. */
static const char *counted(struct pickle *p, enum value_kind kind, size_t width)
{
    const unsigned char *b = take(p, width);
    size_t n = !b ? 0 : width == 1 ? b[0] : get32(b);

    if (!b || !(b = take(p, n)))
        return p->error;
    return stack_push(p, (struct value){ .kind = (unsigned char)kind, .text = b, .length = n });
}

static const char *long1(struct pickle *p)
{
    const unsigned char *b = take(p, 1);
    size_t n = b ? b[0] : 0;
    uint64_t number = 0;

    if (!b || !(b = take(p, n)))
        return p->error;
    if (n > 8)
        return stack_push(p, (struct value){ .kind = VALUE_LONG, .text = b, .length = n });
    for (size_t k = 0; k < 8; k++)    /* two's complement, shortest form */
        number |= (uint64_t)(k < n ? b[k] : n && b[n - 1] & 128 ? 255 : 0) << 8 * k;
    int64_t signed_number;
    memcpy(&signed_number, &number, sizeof number);
    return stack_number(p, VALUE_INT, signed_number);
}

/* An opcode with a number of 1, 2, 4 or 8 bytes after it. */
static const char *numbered(struct pickle *p, unsigned opcode)
{
    const unsigned char *b = take(p, opcode == 'J' || opcode == 'r' || opcode == 'j' ? 4 : opcode == 'M' ? 2 : opcode == 0x95 || opcode == 'G' ? 8 : 1);

    if (!b)
        return p->error;
    switch (opcode) {
    case 'K': return stack_number(p, VALUE_INT, b[0]);
    case 'M': return stack_number(p, VALUE_INT, get16(b));
    case 'J': return stack_number(p, VALUE_INT, (int64_t)get32(b) - (b[3] & 128 ? (int64_t)1 << 32 : 0));
    case 'G': return stack_number(p, VALUE_FLOAT, 0);
    case 'q': return memo_put(p, b[0]);
    case 'r': return memo_put(p, get32(b));
    case 'h': return memo_get(p, b[0]);
    case 'j': return memo_get(p, get32(b));
    case 0x80:
        p->protocol = b[0];
        return b[0] < 2 || b[0] > 5 ? pickle_refuse(p, "protocol %u, wanted 2 to 5", b[0]) : NULL;
    default: return NULL;    /* FRAME: the length of what follows, which is all there anyway */
    }
}

static const char *step(struct pickle *p, unsigned opcode)
{
    char text[8];
    size_t from = p->height;
    const char *wrong = NULL;

    switch (opcode) {
    case 0x80: case 0x95: case 'K': case 'M': case 'J': case 'G': case 'q': case 'r': case 'h': case 'j':
        return numbered(p, opcode);
    case 'N': return stack_number(p, VALUE_NONE, 0);
    case 0x88: case 0x89: return stack_number(p, VALUE_BOOL, opcode == 0x88);
    case 0x8a: return long1(p);
    case 'X': case 'T': return counted(p, VALUE_TEXT, 4);        /* BINUNICODE; BINSTRING, of Python 2 */
    case 0x8c: case 'U': return counted(p, VALUE_TEXT, 1);
    case 'B': return counted(p, VALUE_BYTES, 4);
    case 'C': return counted(p, VALUE_BYTES, 1);
    case '}': return stack_container(p, VALUE_DICT);
    case ']': return stack_container(p, VALUE_LIST);
    case ')': return stack_container(p, VALUE_TUPLE);
    case '(': return stack_mark(p);
    case 't': return (wrong = stack_unmark(&from, p)) ? wrong : stack_tuple(p, from);
    case 0x85: case 0x86: case 0x87:
        return (wrong = stack_need(p, opcode - 0x84)) ? wrong : stack_tuple(p, p->height - (opcode - 0x84));
    case 'a': return (wrong = stack_need(p, 2)) ? wrong : stack_add(p, p->height - 1, VALUE_LIST);
    case 's': return (wrong = stack_need(p, 3)) ? wrong : stack_add(p, p->height - 2, VALUE_DICT);
    case 'e': return (wrong = stack_unmark(&from, p)) ? wrong : stack_add(p, from, VALUE_LIST);
    case 'u': return (wrong = stack_unmark(&from, p)) ? wrong : stack_add(p, from, VALUE_DICT);
    case 0x94: return memo_put(p, p->memo_count);
    case 'c': return global_lines(p);
    case 0x93: return stack_global(p);
    case 'R': return reduce(p);
    case 'b': return build(p);
    case 'Q': return persistent(p);
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
    if (!length || p->bytes[0] != 0x80)
        return pickle_refuse(p, length ? "not a pickle of protocol 2 or later" : "empty, wanted a pickle");
    for (;;) {
        p->opcode_at = p->at;
        const unsigned char *opcode = take(p, 1);
        if (!opcode)
            return p->length == PICKLE_BYTES ? pickle_refuse(p, "more than %zu bytes", PICKLE_BYTES) : pickle_refuse(p, "ends without STOP");
        if (*opcode == '.')
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
