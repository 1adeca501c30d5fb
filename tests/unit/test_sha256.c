/* SPDX-License-Identifier: MIT */
#include "store/sha256.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void expect(const char *text, size_t times, size_t piece, const char *want)
{
    struct sha256 s;
    char hex[SHA256_HEX];
    size_t length = strlen(text);

    for (int plain = 0; plain < 2; plain++) {    /* as the processor likes it, and in plain C */
        sha256_start(&s);
        s.plain |= plain;
        for (size_t k = 0; k < times; k++)
            for (size_t from = 0; from < length; from += piece)
                sha256_add(&s, text + from, length - from < piece ? length - from : piece);
        sha256_finish(&s, hex);
        cr_assert_str_eq(hex, want);
    }
}

/* The examples of FIPS 180-4, whole and byte by byte. */
Test(sha256, examples_of_the_standard)
{
    for (size_t piece = 1; piece < 200; piece += 66) {
        expect("", 1, piece, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        expect("abc", 1, piece, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, piece,
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        expect("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
               1, piece, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    }
}

/* Lengths on both sides of the padding's edge at 56, and a million bytes. */
Test(sha256, long_messages)
{
    expect("a", 1000000, 1, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    expect("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1, 64,
           "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

/* Whatever the pieces, blocks are cut at the same places. */
Test(sha256, both_ways_agree)
{
    unsigned char bytes[1000];
    char hex[2][SHA256_HEX];

    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = (unsigned char)(k * 167 + k / 256);
    for (size_t first = 0; first <= 200; first++) {
        for (int plain = 0; plain < 2; plain++) {
            struct sha256 s;
            sha256_start(&s);
            s.plain |= plain;
            sha256_add(&s, bytes, first);
            sha256_add(&s, bytes + first, sizeof bytes - first - first / 3);
            sha256_finish(&s, hex[plain]);
        }
        cr_assert_str_eq(hex[0], hex[1]);
    }
}

Test(sha256, at_once)
{
    char hex[SHA256_HEX];

    sha256_of(hex, "abc", 3);
    cr_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
