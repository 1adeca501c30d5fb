/* SPDX-License-Identifier: MIT */
/* The opcodes of pickle, by their names in Python's pickletools. */
#ifndef QKVEC_PICKLE_OPCODE_H
#define QKVEC_PICKLE_OPCODE_H

enum pickle_opcode {
    /* the machine */
    OP_PROTO = 0x80, OP_FRAME = 0x95, OP_STOP = '.', OP_MARK = '(', OP_POP = '0', OP_POP_MARK = '1', OP_DUP = '2',
    /* numbers */
    OP_NONE = 'N', OP_NEWTRUE = 0x88, OP_NEWFALSE = 0x89, OP_BININT = 'J', OP_BININT1 = 'K', OP_BININT2 = 'M', OP_BINFLOAT = 'G',
    OP_LONG1 = 0x8a, OP_LONG4 = 0x8b,
    /* text and bytes, with a length of 1, 4 or 8 bytes */
    OP_SHORT_BINUNICODE = 0x8c, OP_BINUNICODE = 'X', OP_BINUNICODE8 = 0x8d, OP_SHORT_BINSTRING = 'U', OP_BINSTRING = 'T',
    OP_SHORT_BINBYTES = 'C', OP_BINBYTES = 'B', OP_BINBYTES8 = 0x8e, OP_BYTEARRAY8 = 0x96,
    /* containers */
    OP_EMPTY_TUPLE = ')', OP_TUPLE = 't', OP_TUPLE1 = 0x85, OP_TUPLE2 = 0x86, OP_TUPLE3 = 0x87,
    OP_EMPTY_LIST = ']', OP_APPEND = 'a', OP_APPENDS = 'e', OP_EMPTY_DICT = '}', OP_SETITEM = 's', OP_SETITEMS = 'u',
    OP_EMPTY_SET = 0x8f, OP_ADDITEMS = 0x90, OP_FROZENSET = 0x91,
    /* the memo */
    OP_BINPUT = 'q', OP_LONG_BINPUT = 'r', OP_MEMOIZE = 0x94, OP_BINGET = 'h', OP_LONG_BINGET = 'j',
    /* names and objects */
    OP_GLOBAL = 'c', OP_STACK_GLOBAL = 0x93, OP_REDUCE = 'R', OP_BUILD = 'b', OP_NEWOBJ = 0x81, OP_NEWOBJ_EX = 0x92, OP_OBJ = 'o',
    OP_BINPERSID = 'Q',
    /* refused */
    OP_FLOAT = 'F', OP_INT = 'I', OP_LONG = 'L', OP_PERSID = 'P', OP_STRING = 'S', OP_UNICODE = 'V', OP_DICT = 'd', OP_GET = 'g', OP_INST = 'i',
    OP_LIST = 'l', OP_PUT = 'p', OP_EXT1 = 0x82, OP_EXT2 = 0x83, OP_EXT4 = 0x84, OP_NEXT_BUFFER = 0x97, OP_READONLY_BUFFER = 0x98
};

#endif
