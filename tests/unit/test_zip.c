/* SPDX-License-Identifier: MIT */
/* The container: every way in which an archive can lie, and what is said then. */
#include "archive.h"

/* One record spoilt: size bytes at offset from the record become value. */
enum where { LOCAL, CENTRAL, END };
static const struct spoilt {
    enum where where;
    size_t at;
    unsigned size;
    uint32_t value;
    const char *sentence;
} spoilt[] = {
    { END, 4, 2, 1, "one part of a split ZIP archive, wanted a whole one" },
    { END, 10, 2, 0, "bad ZIP archive: the directory has more members than its end says" },
    { END, 10, 2, 2, "bad ZIP archive: the directory breaks off with 1 members to come" },
    { END, 12, 4, 50, "bad ZIP archive: the directory should lie at 111 to 161 and must end at 162" },
    { END, 16, 4, 112, "bad ZIP archive: the directory should lie at 112 to 163 and must end at 162" },
    { END, 16, 4, 0xFFFFFFFF, "bad ZIP archive: the directory should lie at 4294967295 to 4294967346 and must end at 162" },
    { CENTRAL, 0, 1, 'Q', "bad ZIP archive: the directory breaks off with 1 members to come" },
    { CENTRAL, 28, 2, 6, "bad ZIP archive: a member's name runs past the directory" },
    { CENTRAL, 30, 2, 1, "bad ZIP archive: a member's name runs past the directory" },
    { CENTRAL, 32, 2, 0xFFFF, "bad ZIP archive: a member's name runs past the directory" },
    { CENTRAL, 28, 2, 4, "a.np: named a.npy in its local header" },
    { CENTRAL, 8, 2, 1, "a.npy: encrypted, wanted stored or deflated" },
    { CENTRAL, 8, 2, 1 << 13, "a.npy: encrypted, wanted stored or deflated" },
    { CENTRAL, 10, 2, 93, "a.npy: compression method 93 (Zstandard), wanted stored or deflated" },
    { CENTRAL, 10, 2, 77, "a.npy: compression method 77 (unknown), wanted stored or deflated" },
    { CENTRAL, 16, 4, 0, "a.npy: 76 bytes by the local header, 76 by the directory, or another checksum" },
    { CENTRAL, 20, 4, 75, "a.npy: 76 bytes declared, which cannot come from 75" },
    { CENTRAL, 20, 4, 0x7FFFFFFF, "a.npy: 2147483647 packed bytes in an archive of 162" },
    { CENTRAL, 20, 4, 0xFFFFFFFF, "a.npy: bad extra field in the directory" },
    { CENTRAL, 24, 4, 77, "a.npy: 77 bytes declared, which cannot come from 76" },
    { CENTRAL, 42, 4, 1, "a.npy: no local header at 1" },
    { CENTRAL, 42, 4, 162, "a.npy: no local header at 162" },
    { CENTRAL, 42, 4, 0x80000000, "a.npy: no local header at 2147483648" },
    { CENTRAL, 46, 1, 27, "\\x1b.npy: named a.npy in its local header" },
    { LOCAL, 0, 1, 'Q', "a.npy: no local header at 0" },
    { LOCAL, 6, 2, 1, "a.npy: the local header contradicts the directory" },
    { LOCAL, 6, 2, 8, "a.npy: the local header contradicts the directory" },
    { LOCAL, 8, 2, 8, "a.npy: the local header contradicts the directory" },
    { LOCAL, 14, 4, 0, "a.npy: 76 bytes by the local header, 76 by the directory, or another checksum" },
    { LOCAL, 18, 4, 1, "a.npy: 76 bytes by the local header, 76 by the directory, or another checksum" },
    { LOCAL, 22, 4, 1, "a.npy: 1 bytes by the local header, 76 by the directory, or another checksum" },
    { LOCAL, 22, 4, 0xFFFFFFFF, "a.npy: bad extra field in the local header" },
    { LOCAL, 26, 2, 6, "a.npy: its 76 bytes would run into the directory" },
    { LOCAL, 28, 2, 1, "a.npy: its 76 bytes would run into the directory" },
    { LOCAL, 30, 1, 'b', "a.npy: named b.npy in its local header" },
    { LOCAL, 110, 1, 0x40, "a.npy: fails its checksum" },
};

Test(zip, each_field_of_each_record_is_held_against_the_others)
{
    char said[SENTENCE];

    for (size_t k = 0; k < sizeof spoilt / sizeof *spoilt; k++) {
        struct archive z = plain_archive(0);
        unsigned char value[4];
        put32(value, spoilt[k].value);
        memcpy(z.b.p + (spoilt[k].where == LOCAL ? z.local[0] : spoilt[k].where == CENTRAL ? z.central[0] : z.end) + spoilt[k].at,
               value, spoilt[k].size);
        cr_expect_str_eq(verdict(said, z.b.p, z.b.n), spoilt[k].sentence, "case %zu: %s", k, said);
        free(z.b.p);
    }
}

Test(zip, plain_archive_is_fine_before_it_is_spoilt)
{
    char said[SENTENCE];

    for (unsigned method = 0; method <= 8; method += 8) {
        struct archive z = plain_archive(method);
        cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "");
        free(z.b.p);
    }
}

/* Bytes of a known hash are not held against checksums; against all else they are. */
Test(zip, proven_bytes)
{
    struct archive z = plain_archive(0);
    char said[SENTENCE];
    struct npz npz;

    z.b.p[z.local[0] + 110] = 0x40;
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "a.npy: fails its checksum");
    cr_expect_null(npz_read_proven(&npz, z.b.p, z.b.n));
    cr_expect_eq(npz.count, 1);
    npz_free(&npz);
    z.b.p[z.local[0] + 30] = 'b';
    cr_expect_str_eq(npz_read_proven(&npz, z.b.p, z.b.n), "a.npy: named b.npy in its local header");
    free(z.b.p);
}

Test(zip, every_truncation_is_noticed)
{
    struct archive z = plain_archive(8);
    char said[SENTENCE];

    for (size_t n = 0; n < z.b.n; n++) {
        const char *wanted = n == 0 ? "empty, wanted a ZIP archive" : n < 4 ? "not a ZIP archive"
                           : "a ZIP archive without its end: truncated, or followed by other bytes";
        unsigned char *exact = malloc(n ? n : 1);    /* so that a sanitizer sees a byte too far */
        memcpy(exact, z.b.p, n);
        cr_expect_str_eq(verdict(said, exact, n), wanted, "after %zu bytes: %s", n, said);
        free(exact);
    }
    add_bytes(&z.b, "x", 1);
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "a ZIP archive without its end: truncated, or followed by other bytes");
    free(z.b.p);
}

/* A flip that still reads may have changed dates, versions or attributes, and
 * never a number or a name. */
Test(zip, every_flipped_bit_is_noticed_or_harmless)
{
    struct archive z = plain_archive(8);
    size_t refused = 0;

    for (size_t bit = 0; bit < 8 * z.b.n; bit++) {
        struct npz read;
        z.b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (npz_read_memory(&read, z.b.p, z.b.n))
            refused++;
        else {
            const struct npz_array *a = npz_get(&read, "a");
            cr_assert_eq(read.count, 1);
            cr_assert(a && a->size == 2 && npz_value(a, 0) == 1 && npz_value(a, 1) == -2, "bit %zu", bit);
        }
        npz_free(&read);
        z.b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    cr_expect_gt(refused, 8 * z.b.n / 2);
    free(z.b.p);
}

static const char *declared(char said[SENTENCE], uint32_t packed, uint32_t size)
{
    struct archive z = plain_archive(8);

    for (int k = 0; k < 2; k++) {
        unsigned char *p = z.b.p + (k ? z.central[0] + 6 : 4);
        put32(p + 14, packed ? packed : get32(p + 14));
        put32(p + 18, size);
    }
    verdict(said, z.b.p, z.b.n);
    free(z.b.p);
    return said;
}

Test(zip, inflating_to_another_size_than_declared)
{
    char said[SENTENCE];

    cr_expect_str_eq(declared(said, 0, 77), "a.npy: inflates to 76 bytes, 77 were declared");
    cr_expect_str_eq(declared(said, 0, 75), "a.npy: inflates to more than the 75 bytes declared");
    cr_expect_str_eq(declared(said, 0, 0), "a.npy: inflates to more than the 0 bytes declared");
    cr_expect_str_eq(declared(said, 20, 76), "a.npy: deflated data breaks off after 15 of 76 bytes");
    cr_expect_str_eq(declared(said, 2, 4000), "a.npy: 4000 bytes declared, which cannot come from 2");
}

Test(zip, bad_deflated_data)
{
    struct archive z = plain_archive(8);
    char said[SENTENCE];

    z.b.p[35] = 0xFF;
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "a.npy: bad deflated data after 0 bytes (invalid block type)");
    free(z.b.p);
}

Test(zip, bytes_after_the_deflated_data)
{
    unsigned char block[] = { 3, 0, 9, 9, 9 };    /* an empty deflate stream, and three bytes */
    struct part part = { "a.npy", 0, { 0 }, 0 };
    char said[SENTENCE];

    add_bytes(&part.content, block, sizeof block);
    struct archive z = archive_of(&part, 1);
    for (int k = 0; k < 2; k++) {
        unsigned char *p = z.b.p + (k ? z.central[0] + 6 : 4);
        put16(p + 4, 8);
        put32(p + 10, 0);
        put32(p + 18, 0);
    }
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "a.npy: 3 bytes follow the deflated data");
    free(z.b.p);
}

Test(zip, two_members_of_one_name)
{
    struct part parts[2] = { { "a.npy", 0, { 0 }, 0 }, { "a.npy", 0, { 0 }, 0 } };
    char said[SENTENCE];

    for (int k = 0; k < 2; k++)
        parts[k].content = npy_of("{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }\n", NULL, 0);
    struct archive z = archive_of(parts, 2);
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "a: two members of this name");
    free(z.b.p);
}

/* The numbers of a are the header and the bytes of b: a small file could so
 * unpack to any size. Alone, a is right. */
Test(zip, members_that_share_their_bytes)
{
    struct part parts[2] = { { "a.npy", 0, { 0 }, 0 }, { "b.npy", 0, { 0 }, 0 } };
    char said[SENTENCE], dict[100];

    parts[1].content = npy_of("{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }\n", NULL, 0);
    snprintf(dict, sizeof dict, "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }", 35 + parts[1].content.n);
    parts[0].content = npy_of(dict, NULL, 0);
    struct archive z = archive_of(parts, 2);
    uint32_t all = (uint32_t)z.central[0] - 35;
    for (int k = 0; k < 2; k++) {
        unsigned char *p = z.b.p + (k ? z.central[0] + 6 : 4);
        put32(p + 10, (uint32_t)crc32(0, z.b.p + 35, all));
        put32(p + 14, all);
        put32(p + 18, all);
    }
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "b.npy: shares its bytes with another member");
    free(z.b.p);
}

/* The ZIP64 end record and its locator, as writers add them to huge archives. */
enum { COUNT = 1, SIZE = 2, AT = 4, ALL = 7 };    /* which fields of the plain end point to the other */

static struct archive zip64(uint64_t record_at, int extra, int wide)
{
    struct archive z = plain_archive(0);
    unsigned char end[22], record[56] = "PK\6\6", locator[20] = "PK\6\7";

    memcpy(end, z.b.p + z.end, 22);
    put64(record + 4, 44);
    put64(record + 24, 1);
    put64(record + 32, 1);
    put64(record + 40, get32(end + 12));
    put64(record + 48, get32(end + 16));
    put64(locator + 8, record_at ? record_at : z.end);
    put32(locator + 16, 1);
    if (wide & COUNT)
        put32(end + 8, 0xFFFFFFFF);
    if (wide & SIZE)
        put32(end + 12, 0xFFFFFFFF);
    if (wide & AT)
        put32(end + 16, 0xFFFFFFFF);
    z.b.n = z.end;
    add_bytes(&z.b, record, 56);
    add_bytes(&z.b, "....", (size_t)extra);
    add_bytes(&z.b, locator, 20);
    add_bytes(&z.b, end, 22);
    return z;
}

Test(zip, zip64_end_record)
{
    static const struct {
        uint64_t at;
        int extra, wide;
        const char *sentence;
    } cases[] = {
        { 0, 0, ALL, "" }, { 0, 0, COUNT, "" }, { 0, 0, SIZE, "" }, { 0, 0, AT, "" },
        { 0, 4, ALL, "" },    /* the record may have an extensible part */
        { 1, 0, ALL, "bad ZIP archive: no ZIP64 end record where the locator points to" },
        { 163, 0, ALL, "bad ZIP archive: no ZIP64 end record where the locator points to" },
        { UINT64_MAX, 0, ALL, "bad ZIP archive: no ZIP64 end record where the locator points to" },
        { (uint64_t)1 << 32 | 162, 0, ALL, "bad ZIP archive: no ZIP64 end record where the locator points to" },
    };
    char said[SENTENCE];

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct archive z = zip64(cases[k].at, cases[k].extra, cases[k].wide);
        cr_expect_str_eq(verdict(said, z.b.p, z.b.n), cases[k].sentence, "case %zu: %s", k, said);
        free(z.b.p);
    }
}

Test(zip, zip64_numbers_are_not_cut_to_32_bits)
{
    struct archive z = zip64(0, 0, ALL);
    char said[SENTENCE];

    put64(z.b.p + z.end + 48, (uint64_t)1 << 32 | 111);
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n),
                     "bad ZIP archive: the directory should lie at 4294967407 to 4294967458 and must end at 162");
    put64(z.b.p + z.end + 48, 111);
    put64(z.b.p + z.end + 32, (uint64_t)1 << 40);
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "bad ZIP archive: the directory breaks off with 1099511627775 members to come");
    free(z.b.p);
}

/* A directory record with an extra field and a comment, whose plain sizes point to the extra field. */
static const char *extra_verdict(char said[SENTENCE], const char *extra, size_t length)
{
    struct archive z = plain_archive(0), longer = { 0 };
    unsigned char *p = z.b.p + z.central[0], *end = z.b.p + z.end;

    put32(p + 20, 0xFFFFFFFF);
    put32(p + 24, 0xFFFFFFFF);
    put16(p + 30, (unsigned)length);
    put16(p + 32, 7);
    put32(end + 12, get32(end + 12) + (uint32_t)length + 7);
    add_bytes(&longer.b, z.b.p, z.end);
    add_bytes(&longer.b, extra, length);
    add_bytes(&longer.b, "comment", 7);
    add_bytes(&longer.b, end, 22);
    verdict(said, longer.b.p, longer.b.n);
    free(longer.b.p);
    free(z.b.p);
    return said;
}

#define SIZE64 "\114\0\0\0\0\0\0\0"    /* 76 */
Test(zip, zip64_extra_field)
{
    char said[SENTENCE];
    static const struct {
        const char *extra;
        size_t length;
        const char *sentence;
    } cases[] = {
        { "\1\0\20\0" SIZE64 SIZE64, 20, "" },
        { "UT\5\0.....\1\0\20\0" SIZE64 SIZE64, 29, "" },             /* another field before it */
        { "\1\0\20\0" SIZE64 SIZE64 "UT\5\0.....", 29, "" },
        { "\1\0\20\0" SIZE64 "\114\0\0\0\1\0\0\0", 20, "a.npy: 4294967372 packed bytes in an archive of 189" },
        { "\1\0\20\0" "\114\0\0\0\1\0\0\0" SIZE64, 20, "a.npy: 4294967372 bytes declared, which cannot come from 76" },
        { "", 0, "a.npy: bad extra field in the directory" },
        { "\1\0\20", 3, "a.npy: bad extra field in the directory" },
        { "UT\0\0", 4, "a.npy: bad extra field in the directory" },
        { "\1\0\10\0" SIZE64, 12, "a.npy: bad extra field in the directory" },      /* one size for two */
        { "\1\0\20\0" SIZE64, 12, "a.npy: bad extra field in the directory" },      /* longer than there is */
        { "UT\377\377.....\1\0\20\0" SIZE64 SIZE64, 29, "a.npy: bad extra field in the directory" },
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        cr_expect_str_eq(extra_verdict(said, cases[k].extra, cases[k].length), cases[k].sentence, "case %zu: %s", k, said);
}
