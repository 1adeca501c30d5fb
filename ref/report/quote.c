/* SPDX-License-Identifier: MIT */
#include "quote.h"

#include <string.h>

#include "../store/text.h"

/* U+FFFE and U+FFFF are UTF-8, but no characters of XML. */
static int is_noncharacter(const char *text)
{
    return text[0] == '\xEF' && text[1] == '\xBF' && (text[2] == '\xBE' || text[2] == '\xBF');
}

/* The good characters up to the next bad byte go through put, byte by byte. */
static void each(FILE *f, const char *text, void (*put)(FILE *f, char c))
{
    size_t length = strlen(text);

    while (length) {
        size_t good = text_good((const unsigned char *)text, length);
        for (size_t k = 0; k < good; k++) {
            if (is_noncharacter(text + k)) {
                put(f, '?');
                k += 2;
            } else {
                put(f, text[k]);
            }
        }
        if (good < length) {
            put(f, '?');
            good++;
        }
        text += good;
        length -= good;
    }
}

static void put_plain(FILE *f, char c)
{
    putc(c == '\n' || c == '\t' ? ' ' : c, f);
}

static void put_json(FILE *f, char c)
{
    if (c == '\n')
        fputs("\\n", f);
    else if (c == '\t')
        fputs("\\t", f);
    else if (c == '"' || c == '\\')
        fprintf(f, "\\%c", c);
    else
        putc(c, f);
}

static void put_xml(FILE *f, char c)
{
    switch (c) {
    case '&': fputs("&amp;", f); break;
    case '<': fputs("&lt;", f); break;
    case '>': fputs("&gt;", f); break;
    case '"': fputs("&quot;", f); break;
    case '\'': fputs("&apos;", f); break;
    case '\n': fputs("&#10;", f); break;
    case '\t': fputs("&#9;", f); break;
    default: putc(c, f);
    }
}

void quote_plain(FILE *f, const char *text)
{
    each(f, text, put_plain);
}

void quote_json(FILE *f, const char *text)
{
    putc('"', f);
    each(f, text, put_json);
    putc('"', f);
}

void quote_xml(FILE *f, const char *text)
{
    each(f, text, put_xml);
}

size_t quote_shell(char *text, size_t size, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
    size_t used = 0;

#define PUT(c) do { if (used + 1 < size) text[used] = (c); used++; } while (0)
    if (*word && strspn(word, safe) == strlen(word)) {
        for (; *word; word++)
            PUT(*word);
    } else {
        PUT('\'');
        for (; *word; word++) {
            if (*word == '\'') {
                PUT('\'');
                PUT('\\');
                PUT('\'');
            }
            PUT(*word);
        }
        PUT('\'');
    }
#undef PUT
    if (size)
        text[used < size ? used : size - 1] = 0;
    return used;
}

void quote_add_word(void *line, const char *option, const char *word)
{
    char *text = line;
    size_t used = strlen(text);

    used += (size_t)snprintf(text + used, COMMAND_LINE - used, " %s", option);
    if (word && used + 1 < COMMAND_LINE) {
        text[used++] = ' ';
        quote_shell(text + used, COMMAND_LINE - used, word);
    }
}
