/* SPDX-License-Identifier: MIT */
#include "corpus/json.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Whether the text is one value, skipped. Copied to its exact length, so that a
 * sanitizer sees a step past the end. */
static int valid(const char *text, size_t length)
{
    struct json j;
    char *copy = calloc(length ? length : 1, 1);

    memcpy(copy, text, length);
    json_start(&j, copy, length);
    int good = json_skip(&j) && json_end(&j);
    free(copy);
    return good;
}

#define GOOD(text) cr_assert(valid(text, strlen(text)), "%s", text)
#define BAD(text) cr_assert_not(valid(text, sizeof text - 1), "%s", text)

Test(json, takes_what_is_json)
{
    GOOD("{}");
    GOOD("[]");
    GOOD(" {\"a\" : [1, -2.5e+3, true, null, {\"b\": \"c\"}], \"d\":{}}\n");
    GOOD("\"\\u00e9\\n\\\"\\\\\"");
    GOOD("[[[[[[[[]]]]]]]]");
}

Test(json, refuses_what_is_not)
{
    BAD("");
    BAD("{");
    BAD("[");
    BAD("[1,]");
    BAD("[,1]");
    BAD("[1 2]");
    BAD("{\"a\"}");
    BAD("{\"a\":}");
    BAD("{\"a\":1,}");
    BAD("{a:1}");
    BAD("{\"a\":1]");
    BAD("[1}");
    BAD("\"");
    BAD("\"\\");
    BAD("\"\\u12\"");
    BAD("\"\\x\"");
    BAD("\"a\nb\"");
    BAD("{} {}");
    BAD("{\"a\":1}\0");
    BAD("\0");
    BAD("[1,\0 2]");
    BAD("\"\\\0\"");
    BAD("\"\\u00\0\0\"");
}

/* Every beginning of a text, and every byte of it replaced, is a verdict and no crash. */
Test(json, hostile_bytes)
{
    const char text[] = "{\"a\":[1,\"\\u0041b\\n\",{\"c\":null}],\"d\":-1e5}";
    char changed[sizeof text];

    for (size_t length = 0; length < sizeof text - 1; length++)
        cr_assert_not(valid(text, length));
    for (size_t at = 0; at < sizeof text - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(changed, text, sizeof text);
            changed[at] = (char)byte;
            valid(changed, sizeof text - 1);
        }
}

Test(json, depth_is_limited)
{
    char deep[200000];

    memset(deep, '[', sizeof deep);
    cr_assert_not(valid(deep, sizeof deep));
}

Test(json, reads_keys_and_texts)
{
    const char text[] = "{\"n\": 12, \"s\": \"\\u00e9\\u20ac\\t\", \"list\": [1, [2], \"x\"], \"last\": true}";
    struct json j;
    char key[8], value[16];

    json_start(&j, text, strlen(text));
    cr_assert(json_enter(&j, '{'));
    cr_assert(json_key(&j, key, sizeof key) && json_text(&j, value, sizeof value));
    cr_assert_str_eq(key, "n");
    cr_assert_str_eq(value, "12");
    cr_assert(json_key(&j, key, sizeof key) && json_text(&j, value, sizeof value));
    cr_assert_str_eq(value, "\xC3\xA9\xE2\x82\xAC\t");
    cr_assert(json_key(&j, key, sizeof key) && json_enter(&j, '['));
    cr_assert(json_element(&j) && json_skip(&j));
    cr_assert(json_element(&j) && json_skip(&j));
    cr_assert(json_element(&j) && json_text(&j, value, sizeof value));
    cr_assert_str_eq(value, "x");
    cr_assert_not(json_element(&j));
    cr_assert(json_key(&j, key, sizeof key) && json_text(&j, value, sizeof value));
    cr_assert_str_eq(value, "true");
    cr_assert_not(json_key(&j, key, sizeof key));
    cr_assert(json_end(&j));
}

Test(json, text_that_does_not_fit_is_a_mistake)
{
    struct json j;
    char value[4];

    json_start(&j, "\"abcd\"", 6);
    cr_assert_not(json_text(&j, value, sizeof value));
    json_start(&j, "\"abc\"", 5);
    cr_assert(json_text(&j, value, sizeof value));
    json_start(&j, "12345", 5);
    cr_assert_not(json_text(&j, value, sizeof value));
}

Test(json, tells_the_line)
{
    const char text[] = "[1,\n2,\n!]";
    struct json j;

    json_start(&j, text, strlen(text));
    json_skip(&j);
    cr_assert(j.failed);
    cr_assert_eq(json_line(&j), 3);
}
