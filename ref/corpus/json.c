/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <string.h>

#define DEEPEST 32    /* nesting that json_skip follows */

static int fail(struct json *j)
{
    j->failed = 1;
    return 0;
}

/* The next character that is not space, or 0 at the end. */
static char peek(struct json *j)
{
    while (j->at < j->end && strchr(" \t\r\n", *j->at) && *j->at)
        j->at++;
    return j->at < j->end ? *j->at : 0;
}

static int take(struct json *j, char c)
{
    if (j->failed || peek(j) != c)
        return fail(j);
    j->at++;
    return 1;
}

void json_start(struct json *j, const char *text, size_t length)
{
    *j = (struct json){ .text = text, .at = text, .end = text + length };
}

int json_enter(struct json *j, char bracket)
{
    if (!take(j, bracket))
        return 0;
    j->fresh = 1;
    return 1;
}

/* 1: another item follows; 0: the bracket was closed, or a mistake. */
static int another(struct json *j, char close)
{
    if (j->failed)
        return 0;
    if (peek(j) == close) {
        j->at++;
        j->fresh = 0;
        return 0;
    }
    if (!j->fresh && !take(j, ','))
        return 0;
    j->fresh = 0;
    return 1;
}

int json_element(struct json *j)
{
    return another(j, ']');
}

static int hex4(struct json *j, unsigned *code)
{
    *code = 0;
    for (int k = 0; k < 4; k++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF", *d;
        if (j->at == j->end || !*j->at || !(d = strchr(digits, *j->at)))
            return fail(j);
        *code = *code * 16 + (unsigned)(d - digits) % 16;
        j->at++;
    }
    return 1;
}

/* One character of a string as UTF-8: bytes of it in out, 0 on a mistake. A
 * surrogate becomes '?': no index needs one. */
static size_t character(struct json *j, char out[3])
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    unsigned code;
    const char *e;

    out[0] = *j->at++;
    if ((unsigned char)out[0] < 0x20)
        return (size_t)fail(j);
    if (out[0] != '\\')
        return 1;
    if (j->at == j->end || !*j->at)
        return (size_t)fail(j);
    if (*j->at != 'u') {
        if (!(e = strchr(escapes, *j->at++)))
            return (size_t)fail(j);
        out[0] = meanings[e - escapes];
        return 1;
    }
    j->at++;
    if (!hex4(j, &code))
        return 0;
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        code = '?';
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* A string into text, or past it when text is NULL. */
static int string(struct json *j, char *text, size_t size)
{
    size_t used = 0;

    if (!take(j, '"'))
        return 0;
    while (j->at < j->end && *j->at != '"') {
        char bytes[3];
        size_t count = character(j, bytes);
        if (!count || (text && used + count >= size))
            return fail(j);
        if (text)
            memcpy(text + used, bytes, count);
        used += count;
    }
    if (text)
        text[used] = 0;
    return take(j, '"');
}

int json_key(struct json *j, char *key, size_t size)
{
    return another(j, '}') && string(j, key, size) && take(j, ':');
}

int json_text(struct json *j, char *text, size_t size)
{
    size_t used = 0;

    j->fresh = 0;
    if (j->failed)
        return 0;
    if (peek(j) == '"')
        return string(j, text, size);
    while (j->at < j->end && *j->at && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *j->at)) {
        if (text && used + 1 >= size)
            return fail(j);
        if (text)
            text[used] = *j->at;
        used++, j->at++;
    }
    if (text)
        text[used] = 0;
    return used ? 1 : fail(j);
}

static int skip(struct json *j, int depth)
{
    char c = peek(j);

    if (j->failed || depth > DEEPEST)
        return fail(j);
    if (c == '{') {
        json_enter(j, c);
        while (another(j, '}') && string(j, NULL, 0) && take(j, ':') && skip(j, depth + 1))
            ;
    } else if (c == '[') {
        json_enter(j, c);
        while (another(j, ']') && skip(j, depth + 1))
            ;
    } else {
        json_text(j, NULL, 0);
    }
    return !j->failed;
}

int json_skip(struct json *j)
{
    return skip(j, 0);
}

int json_end(struct json *j)
{
    return !j->failed && peek(j) == 0 && j->at == j->end ? 1 : fail(j);
}

size_t json_line(const struct json *j)
{
    size_t line = 1;

    for (const char *c = j->text; c < j->at; c++)
        line += *c == '\n';
    return line;
}
