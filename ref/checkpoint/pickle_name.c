/* SPDX-License-Identifier: MIT */
/* The names in a pickle: globals, opcodes, kinds of values. */
#include "pickle.h"
#include "pickle_opcode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STORAGE(name) { "torch", name "Storage", GLOBAL_STORAGE }, { "torch.cuda", name "Storage", GLOBAL_STORAGE }
#define DTYPE(name) { "torch", name, GLOBAL_DTYPE }

/* What torch.save() writes for tensors, dicts, and the plain values that
 * checkpoints keep beside them. None of these is ever called. */
static const struct global globals[] = {
    { "collections", "OrderedDict", GLOBAL_DICT },
    { "collections", "defaultdict", GLOBAL_DEFAULT_DICT },
    { "torch._tensor", "_rebuild_from_type_v2", GLOBAL_FROM_TYPE },
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

/* ---- names that run code ---- */

/* Modules of which a checkpoint needs nothing, and that run code or reach files. */
static const char *const hostile_modules[] = {
    "os", "posix", "nt", "subprocess", "sys", "shutil", "socket", "importlib", "runpy", "pty", "ctypes", "webbrowser", "code", "codeop", "commands",
    "pdb", "timeit", "trace", "profile", "cProfile", "multiprocessing", "signal", "threading", "asyncio", "urllib", "http", "ftplib", "smtplib",
    "tempfile", "pickle", "_pickle", "marshal", "imp", "builtins", "__builtin__", "types", "inspect", "gc", "operator", "functools", "pip", "site",
};

/* The same below torch, which checkpoints need otherwise. */
static const struct { const char *module, *name; } hostile_names[] = {
    { "torch", "load" }, { "torch.serialization", "load" }, { "torch.hub", NULL }, { "torch.jit", NULL }, { "numpy", "load" },
};

/* What is harmless in them: types of plain values. */
static const struct { const char *module, *name; } harmless[] = {
    { "builtins", "set" }, { "builtins", "frozenset" }, { "builtins", "list" }, { "builtins", "dict" }, { "builtins", "tuple" }, { "builtins", "int" },
    { "builtins", "float" }, { "builtins", "complex" }, { "builtins", "str" }, { "builtins", "bytes" }, { "builtins", "bytearray" }, { "builtins", "bool" },
    { "builtins", "slice" }, { "builtins", "range" }, { "builtins", "object" },
    { "__builtin__", "set" }, { "__builtin__", "frozenset" }, { "__builtin__", "list" }, { "__builtin__", "dict" }, { "__builtin__", "tuple" },
    { "__builtin__", "int" }, { "__builtin__", "long" }, { "__builtin__", "float" }, { "__builtin__", "complex" }, { "__builtin__", "str" },
    { "__builtin__", "unicode" }, { "__builtin__", "bytearray" }, { "__builtin__", "slice" }, { "__builtin__", "xrange" }, { "__builtin__", "object" },
    { "types", "SimpleNamespace" },
};

static int runs_code(const unsigned char *module, size_t module_length, const unsigned char *name, size_t name_length)
{
    const unsigned char *dot = memchr(module, '.', module_length);
    size_t outermost = dot ? (size_t)(dot - module) : module_length;

    for (size_t k = 0; k < sizeof harmless / sizeof *harmless; k++)
        if (is(harmless[k].module, module, module_length) && is(harmless[k].name, name, name_length))
            return 0;
    for (size_t k = 0; k < sizeof hostile_modules / sizeof *hostile_modules; k++)
        if (is(hostile_modules[k], module, outermost))
            return 1;
    for (size_t k = 0; k < sizeof hostile_names / sizeof *hostile_names; k++)
        if (is(hostile_names[k].module, module, module_length) && (!hostile_names[k].name || is(hostile_names[k].name, name, name_length)))
            return 1;
    for (size_t k = 1; k < name_length; k++)    /* attributes of objects: f.__globals__ */
        if (name[k - 1] == '_' && name[k] == '_')
            return 1;
    return 0;
}

/* Return the number of a name that is not known, kept once. */
static uint32_t keep_foreign(struct pickle *p, const char *name)
{
    for (uint32_t k = 0; k < p->foreign_count; k++)
        if (!strcmp(p->foreign[k], name))
            return k;
    if (p->foreign_count == PICKLE_FOREIGN) {
        snprintf(p->foreign[PICKLE_FOREIGN - 1], SHOWN, "objects of further names");
        return PICKLE_FOREIGN - 1;
    }
    snprintf(p->foreign[p->foreign_count], SHOWN, "%s", name);
    return p->foreign_count++;
}

const char *pickle_global(struct value *v, struct pickle *p, const unsigned char *module, size_t module_length,
                          const unsigned char *name, size_t name_length)
{
    char shown_module[SHOWN], shown_name[SHOWN], full[SHOWN];

    for (size_t k = 0; k < sizeof globals / sizeof *globals; k++)
        if (is(globals[k].module, module, module_length) && is(globals[k].name, name, name_length)) {
            *v = (struct value){ .kind = VALUE_GLOBAL, .what = &globals[k] };
            return NULL;
        }
    show_name(shown_module, module, module_length);
    show_name(shown_name, name, name_length);
    if (runs_code(module, module_length, name, name_length))
        return pickle_refuse(p, "found the name %.60s.%.60s, which runs code; wanted only tensors in dicts, as torch.save(model.state_dict(), FILE) writes them",
                             shown_module, shown_name);
    snprintf(full, sizeof full, "%.46s.%.46s", shown_module, shown_name);
    *v = (struct value){ .kind = VALUE_CLASS, .foreign = keep_foreign(p, full) };
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

/* Only opcodes that are refused have names here. */
const char *pickle_opcode_name(char text[8], unsigned opcode)
{
    static const struct {
        enum pickle_opcode opcode;
        const char *name;
    } names[] = {
        { OP_FLOAT, "FLOAT" }, { OP_INT, "INT" }, { OP_LONG, "LONG" }, { OP_PERSID, "PERSID" }, { OP_STRING, "STRING" }, { OP_UNICODE, "UNICODE" },
        { OP_DICT, "DICT" }, { OP_GET, "GET" }, { OP_INST, "INST" }, { OP_LIST, "LIST" }, { OP_PUT, "PUT" }, { OP_EXT1, "EXT1" }, { OP_EXT2, "EXT2" },
        { OP_EXT4, "EXT4" }, { OP_NEXT_BUFFER, "NEXT_BUFFER" }, { OP_READONLY_BUFFER, "READONLY_BUFFER" },
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
        "a name", "a tensor or a value like it", "a storage", "a name that is not known", "an object of a name that is not known"
    };

    return kind < VALUE_KINDS ? names[kind] : "nothing";
}

int pickle_text_is(const struct value *v, const char *text)
{
    return v && v->kind == VALUE_TEXT && is(text, v->text, v->length);
}
