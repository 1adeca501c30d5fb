/* SPDX-License-Identifier: MIT */
/* The header of a member, and its numbers. */
#include "archive.h"

#include "../../ref/store/npy.h"

#define TYPES "wanted one of <f2 <f4 <f8 <i8 |b1 |u1"
#define BAD "a: bad .npy header: "

/* A header, the bytes that follow it, and what is said. */
static const struct {
    const char *dict;
    size_t size;
    const char *sentence;
} headers[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", 24, "" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 24, "" },
    { " { \"shape\" :(2,3,) ,'fortran_order':False,\t'descr':'<f4'}\n", 24, "" },
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8, "" },
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", 0, "" },
    { "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", 8, "" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, "a: <f4 of shape (2, 3) takes 24 bytes, found 23" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25, "a: <f4 of shape (2, 3) takes 24 bytes, found 25" },
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 0, "a: <f8 of shape () takes 8 bytes, found 0" },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (7, 0), }", 1, "a: |u1 of shape (7, 0) takes 0 bytes, found 1" },
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (2147483648,), }", 8,
      "a: <f8 of shape (2147483648,) takes 17179869184 bytes, found 8" },

    { "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, "a: dimension 0 is negative" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", 4, "a: dimension 1 is negative" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2147483649), }", 4, "a: dimension 1 is larger than 2147483648" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551617,), }", 4, "a: dimension 0 is larger than 2147483648" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 65536), }", 0, "a: its shape multiplies to more than 2147483648" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 65536, 65536), }", 0, "a: its shape multiplies to more than 2147483648" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1), }", 4, "a: found more than 4 dimensions, wanted at most that" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1), }", 4, BAD "'shape' is no tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': [1], }", 4, BAD "'shape' is no tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", 4, BAD "'shape' is no tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }", 4, BAD "'shape' is no tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (,), }", 4, BAD "dimension 0 is no number" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1, x), }", 4, BAD "dimension 1 is no number" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,), }", 4, BAD "'shape' is no tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,", 8, BAD "dimension 1 is no number" },

    { "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4, "a: found >f4, which is big endian, " TYPES },
    { "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }", 4, "a: found type |i1, " TYPES },
    { "{'descr': '<f44', 'fortran_order': False, 'shape': (1,), }", 4, "a: found type <f44, " TYPES },
    { "{'descr': '', 'fortran_order': False, 'shape': (1,), }", 4, "a: found type , " TYPES },
    { "{'descr': '<\x1b[0m', 'fortran_order': False, 'shape': (1,), }", 4, "a: found type <\\x1b[0m, " TYPES },
    { "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "a: found |O, pickled Python objects, " TYPES },
    { "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "a: found a structured type, " TYPES },
    { "{'descr': None, 'fortran_order': False, 'shape': (1,), }", 4, BAD "'descr' is no string" },
    { "{'descr': '<\\x664', 'fortran_order': False, 'shape': (1,), }", 4, BAD "'descr' is no string" },
    { "{'descr': '<f4", 4, BAD "'descr' is no string" },

    { "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", 4,
      "a: found Fortran order, wanted C order (numpy.ascontiguousarray makes it)" },
    { "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4, BAD "'fortran_order' is neither True nor False" },

    { "", 4, BAD "no dict" },
    { "[]", 4, BAD "no dict" },
    { "{}", 4, BAD "no 'descr'" },
    { "{'descr': '<f4', 'shape': (1,), }", 4, BAD "no 'fortran_order'" },
    { "{'descr': '<f4', 'fortran_order': False, }", 4, BAD "no 'shape'" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, BAD "unknown key x" },
    { "{'descr': '<f4', 'fortran_ordre': False, 'shape': (1,)}", 4, BAD "unknown key fortran_ordre" },
    { "{'descr': '<f4', 'fortran_order': False, 'shopa': (1,)}", 4, BAD "unknown key shopa" },
    { "{'': '<f4'}", 4, BAD "unknown key " },
    { "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 4, BAD "repeated key descr" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4, BAD "the dict does not end" },
    { "{'descr': '<f4' 'fortran_order': False}", 4, BAD "the dict does not end" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", 4, BAD "something follows the dict" },
    { "{descr: '<f4'}", 4, BAD "no 'key': value where one was due" },
    { "{'descr', '<f4'}", 4, BAD "no 'key': value where one was due" },
};

static const char *alone(char said[SENTENCE], struct bytes content)
{
    struct part part = { "a.npy", 0, content, 0 };
    struct archive z = archive_of(&part, 1);

    verdict(said, z.b.p, z.b.n);
    free(z.b.p);
    return said;
}

Test(npy, headers)
{
    static const unsigned char zeros[64];
    char said[SENTENCE];

    for (size_t k = 0; k < sizeof headers / sizeof *headers; k++)
        cr_expect_str_eq(alone(said, npy_of(headers[k].dict, zeros, headers[k].size)), headers[k].sentence,
                         "%s\n   said: %s", headers[k].dict, said);
}

Test(npy, before_the_header)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *sentence;
    } cases[] = {
        { "", 0, "a: not a .npy array (found 0 bytes that begin with nothing)" },
        { "\x93NUMPY\1\0\1", 9, "a: not a .npy array (found 9 bytes that begin with \\x93NUMPY)" },
        { "GIF89a....", 10, "a: not a .npy array (found 10 bytes that begin with GIF89a)" },
        { "\x93NUMPY\0\0\0\0", 10, "a: .npy version 0.0, wanted 1.0 (2.0 and 3.0 are read too)" },
        { "\x93NUMPY\4\0\0\0", 10, "a: .npy version 4.0, wanted 1.0 (2.0 and 3.0 are read too)" },
        { "\x93NUMPY\1\1\0\0", 10, "a: .npy version 1.1, wanted 1.0 (2.0 and 3.0 are read too)" },
        { "\x93NUMPY\1\0\1\0", 10, "a: .npy header of 1 bytes in a member of 10" },
        { "\x93NUMPY\2\0\1\0", 10, "a: .npy breaks off after 10 bytes" },
        { "\x93NUMPY\2\0\1\0\0\0", 12, "a: .npy header of 1 bytes in a member of 12" },
        { "\x93NUMPY\3\0\xFF\xFF\xFF\xFF", 12, "a: .npy header of 4294967295 bytes, wanted at most 65535" },
    };
    char said[SENTENCE];

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct bytes b = { 0 };
        add_bytes(&b, cases[k].bytes, cases[k].size);
        cr_expect_str_eq(alone(said, b), cases[k].sentence, "case %zu: %s", k, said);
    }
}

Test(npy, bools_are_0_or_1)
{
    char said[SENTENCE];

    cr_expect_str_eq(alone(said, npy_of("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\0\1\0", 3)), "");
    cr_expect_str_eq(alone(said, npy_of("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\1\0\2", 3)),
                     "a: bool 2 is stored as 2, wanted 0 or 1");
}

/* Byte by byte, so that it holds on a machine of either order. */
Test(npy, numbers_are_little_endian_in_the_file)
{
    struct npz_array a = { .name = "a" };
    struct bytes b = npy_of("{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}", "\1\2\3\4\5\6\7\10\376\377\377\377\377\377\377\377", 16);
    char error[SENTENCE];
    size_t length;

    cr_assert_null(npy_take(&a, b.p, b.n, error));
    cr_expect_eq(((const int64_t *)a.data)[0], 0x0807060504030201);
    cr_expect_eq(((const int64_t *)a.data)[1], -2);
    unsigned char *made = npy_make(&length, &a);
    cr_expect_eq(length, 128 + 16);
    cr_expect_arr_eq(made + 128, "\1\2\3\4\5\6\7\10\376\377\377\377\377\377\377\377", 16);
    free(made);
    free(a.data);
}

Test(npy, header_as_numpy_writes_it)
{
    float x[6] = { 0 };
    struct npz_array a = { .name = "a", .type = NPZ_F4, .ndim = 2, .shape = { 2, 3, 1, 1 }, .size = 6, .data = x };
    size_t length;
    unsigned char *made = npy_make(&length, &a);

    cr_expect_eq(length, 128 + 24);
    cr_expect_arr_eq(made, "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   ", 72);
    cr_expect_eq(made[126], ' ');
    cr_expect_eq(made[127], '\n');
    free(made);
}

/* Every float16 there is goes through double and comes back. */
Test(npy, float16_all_values)
{
    uint16_t x, y;
    struct npz_array a = { .type = NPZ_F2, .size = 1, .data = &x }, b = { .type = NPZ_F2, .size = 1, .data = &y };

    for (unsigned bits = 0; bits < 0x10000; bits++) {
        x = (uint16_t)bits;
        double value = npz_value(&a, 0);
        npz_set(&b, 0, value);
        if ((bits & 0x7FFF) > 0x7C00)
            cr_assert(value != value && (y & 0x7FFF) > 0x7C00, "%04x", bits);
        else
            cr_assert_eq(x, y, "%04x became %g and %04x", bits, value, (unsigned)y);
    }
}

Test(npy, float16_known_values_and_ties)
{
    static const struct {
        double x;
        unsigned bits;
    } cases[] = {
        { 1, 0x3C00 }, { -2, 0xC000 }, { 65504, 0x7BFF }, { 65519.996, 0x7BFF }, { 65520, 0x7C00 }, { -1e300, 0xFC00 },
        { 0x1p-14, 0x0400 }, { 0x1p-24, 0x0001 }, { 0x1p-25, 0x0000 }, { 0x1.000001p-25, 0x0001 }, { 0x1.8p-24, 0x0002 },
        { -0.0, 0x8000 }, { 1 + 0x1p-11, 0x3C00 }, { 1 + 0x3p-11, 0x3C02 }, { 1 + 0x1.0000001p-11, 0x3C01 },
        { 2 - 0x1p-12, 0x4000 }, { 0x1p-14 - 0x1p-26, 0x0400 }, { 1.0 / 3, 0x3555 }, { 5e-324, 0 },
    };
    uint16_t y;
    struct npz_array b = { .type = NPZ_F2, .size = 1, .data = &y };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        npz_set(&b, 0, cases[k].x);
        cr_expect_eq(y, cases[k].bits, "%a became %04x", cases[k].x, (unsigned)y);
    }
}
