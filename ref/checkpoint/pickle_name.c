/* SPDX-License-Identifier: MIT */
/* Everything in a pickle that goes by a name. */
#include "pickle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STORAGE(name) { "torch", name "Storage", GLOBAL_STORAGE }, { "torch.cuda", name "Storage", GLOBAL_STORAGE }
#define DTYPE(name) { "torch", name, GLOBAL_DTYPE }

/* What torch.save() writes for tensors, dicts, and the plain values that
 * checkpoints keep beside them. None of these is ever called. */
static const struct global globals[] = {
    { "collections", "OrderedDict", GLOBAL_DICT },
    { "torch._utils", "_rebuild_tensor", GLOBAL_TENSOR },
    { "torch._utils", "_rebuild_tensor_v2", GLOBAL_TENSOR },
    { "torch._utils", "_rebuild_tensor_v3", GLOBAL_TENSOR_DTYPE },
    { "torch._utils", "_rebuild_parameter", GLOBAL_PARAMETER },
    { "torch._utils", "_rebuild_parameter_with_state", GLOBAL_PARAMETER },
    { "torch._utils", "_rebuild_sparse_tensor", GLOBAL_HARMLESS },
    { "torch.serialization", "_get_layout", GLOBAL_HARMLESS },
    { "torch", "Size", GLOBAL_HARMLESS },
    { "torch", "device", GLOBAL_HARMLESS },
    { "_codecs", "encode", GLOBAL_HARMLESS },
    { "torch.storage", "UntypedStorage", GLOBAL_STORAGE },
    STORAGE("Float"), STORAGE("Double"), STORAGE("Half"), STORAGE("BFloat16"), STORAGE("Long"), STORAGE("Int"),
    STORAGE("Short"), STORAGE("Char"), STORAGE("Byte"), STORAGE("Bool"), STORAGE("ComplexFloat"),
    STORAGE("ComplexDouble"), STORAGE("QInt8"), STORAGE("QUInt8"), STORAGE("QInt32"),
    DTYPE("float16"), DTYPE("bfloat16"), DTYPE("float32"), DTYPE("float64"), DTYPE("int8"), DTYPE("int16"),
    DTYPE("int32"), DTYPE("int64"), DTYPE("uint8"), DTYPE("uint16"), DTYPE("uint32"), DTYPE("uint64"), DTYPE("bool"),
    DTYPE("complex32"), DTYPE("complex64"), DTYPE("complex128"), DTYPE("float8_e4m3fn"), DTYPE("float8_e5m2"),
    DTYPE("float8_e4m3fnuz"), DTYPE("float8_e5m2fnuz"), DTYPE("float8_e8m0fnu"),
};

static int is(const char *text, const unsigned char *bytes, size_t length)
{
    return strlen(text) == length && !memcmp(text, bytes, length);
}

const struct global *pickle_global(struct pickle *p, const unsigned char *module, size_t module_length,
                                   const unsigned char *name, size_t name_length)
{
    char shown_module[SHOWN], shown_name[SHOWN];

    for (size_t k = 0; k < sizeof globals / sizeof *globals; k++)
        if (is(globals[k].module, module, module_length) && is(globals[k].name, name, name_length))
            return &globals[k];
    show_name(shown_module, module, module_length);
    show_name(shown_name, name, name_length);
    /* A model, an optimizer, arguments: what a state_dict does not need. */
    pickle_refuse(p, "found the name %.60s.%.60s, wanted only tensors in dicts, as torch.save(model.state_dict(), FILE) writes them",
                  shown_module, shown_name);
    return NULL;
}

const char *pickle_refuse(struct pickle *p, const char *format, ...)
{
    char sentence[SENTENCE];
    va_list list;

    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    return say(p->error, SENTENCE, "%s: at byte %zu: %.260s", p->name, p->opcode_at, sentence);
}

/* The opcodes that are refused; those that are read need no name. */
const char *pickle_opcode_name(char text[8], unsigned opcode)
{
    static const struct {
        unsigned char opcode;
        const char *name;
    } names[] = {
        { '0', "POP" }, { '1', "POP_MARK" }, { '2', "DUP" }, { 'F', "FLOAT" }, { 'I', "INT" }, { 'L', "LONG" },
        { 'P', "PERSID" }, { 'S', "STRING" }, { 'V', "UNICODE" }, { 'd', "DICT" }, { 'g', "GET" }, { 'i', "INST" },
        { 'l', "LIST" }, { 'o', "OBJ" }, { 'p', "PUT" }, { 0x81, "NEWOBJ" }, { 0x82, "EXT1" }, { 0x83, "EXT2" },
        { 0x84, "EXT4" }, { 0x8b, "LONG4" }, { 0x8d, "BINUNICODE8" }, { 0x8e, "BINBYTES8" }, { 0x8f, "EMPTY_SET" },
        { 0x90, "ADDITEMS" }, { 0x91, "FROZENSET" }, { 0x92, "NEWOBJ_EX" }, { 0x96, "BYTEARRAY8" },
        { 0x97, "NEXT_BUFFER" }, { 0x98, "READONLY_BUFFER" },
    };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (names[k].opcode == opcode)
            return names[k].name;
    snprintf(text, 8, "0x%02x", opcode);
    return text;
}

const char *pickle_kind_name(unsigned kind)
{
    static const char *const names[VALUE_KINDS] = {
        "None", "a bool", "an int", "a long int", "a float", "bytes", "a string", "a tuple", "a list", "a dict",
        "a name", "a tensor or a value like it", "a storage"
    };

    return kind < VALUE_KINDS ? names[kind] : "nothing";
}

int pickle_text_is(const struct value *v, const char *text)
{
    return v && v->kind == VALUE_TEXT && is(text, v->text, v->length);
}
