/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *say(char *error, size_t size, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(error, size, format, list);
    va_end(list);
    return error;
}

const char *show_name(char text[SHOWN], const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    size_t at = 0;

    for (size_t i = 0; i < length; i++) {
        if (at + 8 > SHOWN) {
            memcpy(text + at, "...", 3);
            at += 3;
            break;
        }
        if (p[i] > 0x20 && p[i] < 0x7F && p[i] != '\\')
            text[at++] = (char)p[i];
        else
            at += (size_t)snprintf(text + at, 5, "\\x%02x", (unsigned)p[i]);
    }
    text[at] = '\0';
    return text;
}

/* The bytes of the character at p, or 0: overlong forms, surrogates, what lies
 * beyond U+10FFFF and the controls of both halves of Latin-1 are not text. */
static size_t character(const unsigned char *p, size_t length)
{
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    uint32_t c = n < 2 ? p[0] : p[0] & (0x7Fu >> n);

    if (n == 0 || n > length)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3Fu);
    }
    if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0))
        return 0;
    if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF)
        return 0;
    return n;
}

size_t text_good(const unsigned char *bytes, size_t length)
{
    size_t at = 0, n;

    while (at < length && (n = character(bytes + at, length - at)))
        at += n;
    return at;
}

const char *shape_text(char *text, size_t size, int ndim, const size_t *shape)
{
    size_t at = 1;

    text[0] = '(';
    for (int k = 0; k < ndim; k++)
        at += (size_t)snprintf(text + at, size - at, k ? ", %zu" : ndim == 1 ? "%zu," : "%zu", shape[k]);
    memcpy(text + at, ")", 2);
    return text;
}
