/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "report/quote.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect(void (*quote)(FILE *, const char *), const char *text, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *f = open_memstream(&got, &size);

    quote(f, text);
    fclose(f);
    cr_assert_str_eq(got, want);
    free(got);
}

Test(quote, plain_text_stays_in_its_line)
{
    expect(quote_plain, "a b", "a b");
    expect(quote_plain, "a\nb\tc", "a b c");
    expect(quote_plain, "\x1b[31mred", "?[31mred");
    expect(quote_plain, "\xC3\xA9 \xE2\x82\xAC", "\xC3\xA9 \xE2\x82\xAC");
    expect(quote_plain, "\xC2\x9B" "31m", "??31m");    /* a control of the upper half */
    expect(quote_plain, "\xC3", "?");
    expect(quote_plain, "\xED\xA0\x80", "???");        /* a surrogate */
    expect(quote_plain, "", "");
}

Test(quote, json)
{
    expect(quote_json, "a", "\"a\"");
    expect(quote_json, "\"\\\n\t/", "\"\\\"\\\\\\n\\t/\"");
    expect(quote_json, "\x01\xFF", "\"??\"");
}

Test(quote, xml)
{
    expect(quote_xml, "<a b=\"c\" d='e'>&</a>", "&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;&lt;/a&gt;");
    expect(quote_xml, "]]>", "]]&gt;");
    expect(quote_xml, "a\nb\tc\rd", "a&#10;b&#9;c?d");
    expect(quote_xml, "a\xEF\xBF\xBE" "b\xEF\xBF\xBF", "a?b?");          /* no characters of XML */
    expect(quote_xml, "\xEF\xBF\xBD", "\xEF\xBF\xBD");
    expect(quote_xml, "\xEF\xBF", "??");
}

Test(quote, shell)
{
    char text[32];

    cr_assert_eq(quote_shell(text, sizeof text, "core/answer"), 11);
    cr_assert_str_eq(text, "core/answer");
    quote_shell(text, sizeof text, "");
    cr_assert_str_eq(text, "''");
    quote_shell(text, sizeof text, "a b");
    cr_assert_str_eq(text, "'a b'");
    quote_shell(text, sizeof text, "it's");
    cr_assert_str_eq(text, "'it'\\''s'");
    quote_shell(text, sizeof text, "$(x)*");
    cr_assert_str_eq(text, "'$(x)*'");
    cr_assert_eq(quote_shell(text, 4, "abcdef"), 6);
    cr_assert_str_eq(text, "abc");
    cr_assert_eq(quote_shell(text, 0, "abcdef"), 6);
}
