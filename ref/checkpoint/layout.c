/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct layout layout_pytorch = { { 0, 1, 2 }, PORTIONS_WHOLE, STORED_ROWS, 0 };

static const char *const portion_names[PORTIONS] = { "whole", "head", "element", "shards" };
static const char *const storing_names[STORINGS] = { "rows", "columns", "blocks", "side" };
static const char orders[LAYOUT_ORDERS][4] = { "qkv", "qvk", "kqv", "kvq", "vqk", "vkq" };

static void take_order(unsigned char slot[3], const char *order)
{
    for (int which = 0; which < 3; which++)
        slot[which] = (unsigned char)(strchr(order, "qkv"[which]) - order);
}

void layout_order(unsigned char slot[3], int k)
{
    take_order(slot, orders[k]);
}

size_t layout_portions(const struct layout *l, const struct outputs *o)
{
    size_t n = l->portions == PORTIONS_WHOLE ? 1 : l->portions == PORTIONS_HEAD ? o->heads
             : l->portions == PORTIONS_SHARDS ? l->shards : o->rows[0];

    for (int which = 0; which < 3; which++)
        if (!n || !o->rows[which] || o->rows[which] % n)
            return 0;
    return n;
}

size_t layout_output(const struct layout *l, const struct outputs *o, int which, size_t e)
{
    size_t n = layout_portions(l, o), share = o->rows[which] / n, all = 0, before = 0;

    for (int other = 0; other < 3; other++) {
        all += o->rows[other] / n;
        if (l->slot[other] < l->slot[which])
            before += o->rows[other] / n;
    }
    return e / share * all + before + e % share;
}

size_t layout_index(enum storing storing, const struct outputs *o, size_t output, size_t input)
{
    size_t rows = o->rows[0], block = output / rows, e = output % rows;

    switch (storing) {
    case STORED_COLUMNS: return input * (o->rows[0] + o->rows[1] + o->rows[2]) + output;
    case STORED_BLOCKS:  return (block * o->inputs + input) * rows + e;
    case STORED_SIDE:    return (e * 3 + block) * o->inputs + input;
    default:             return output * o->inputs + input;
    }
}

/* Write the three letters in the order of their slots. */
static void order_text(char order[4], const struct layout *l)
{
    for (int which = 0; which < 3; which++)
        order[l->slot[which]] = "qkv"[which];
    order[3] = '\0';
}

const char *layout_text(char text[LAYOUT_TEXT], const struct layout *l)
{
    char order[4], shards[24] = "";

    order_text(order, l);
    if (l->portions == PORTIONS_SHARDS)
        snprintf(shards, sizeof shards, "=%zu", l->shards);
    snprintf(text, LAYOUT_TEXT, "%s%s%s%s%s%s", order, l->portions ? "," : "", l->portions ? portion_names[l->portions] : "", shards,
             l->storing ? "," : "", l->storing ? storing_names[l->storing] : "");
    return text;
}

static int word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}

/* Apply one word of a layout; the first one is the order. Returns 0 if it is unknown. */
static int parse_word(struct layout *l, const char *word, size_t length, int first)
{
    size_t digits = length > 7 && !memcmp(word, "shards=", 7) ? strspn(word + 7, "0123456789") : 0;

    for (int k = 0; k < LAYOUT_ORDERS && first; k++)
        if (word_is(word, length, orders[k])) {
            take_order(l->slot, orders[k]);
            return 1;
        }
    for (int k = 0; k < PORTIONS_SHARDS && !first; k++)
        if (word_is(word, length, portion_names[k])) {
            l->portions = (enum portions)k;
            return 1;
        }
    for (int k = 0; k < STORINGS && !first; k++)
        if (word_is(word, length, storing_names[k])) {
            l->storing = (enum storing)k;
            return 1;
        }
    if (first || !digits || digits > 6 || 7 + digits != length || word[7] == '0')
        return 0;
    l->portions = PORTIONS_SHARDS;
    l->shards = (size_t)strtoul(word + 7, NULL, 10);
    return 1;
}

const char *layout_parse(struct layout *l, const char *text)
{
    *l = layout_pytorch;
    for (const char *word = text; ; ) {
        size_t length = strcspn(word, ",");
        if (!parse_word(l, word, length, word == text))
            return "no such layout; wanted the order (qkv, kqv, ...), then ,head or ,element or ,shards=N and ,rows, ,columns, ,blocks or ,side if they apply";
        if (!word[length])
            break;
        word += length + 1;
    }
    if (l->portions != PORTIONS_WHOLE && l->storing > STORED_COLUMNS)
        return "no such layout; blocks and side hold q, k and v whole";
    return NULL;
}

const char *layout_words(char text[LAYOUT_WORDS], const struct layout *l, int separate)
{
    const char *line = l->storing == STORED_COLUMNS ? "column" : "row";
    char order[4];

    order_text(order, l);
    if (separate)
        snprintf(text, LAYOUT_WORDS, "the three weights are %c, %c, %c, each stored %s", order[0], order[1], order[2],
                 l->storing == STORED_ROWS ? "(out,in) as nn.Linear does" : "(in,out), transposed");
    else if (l->storing > STORED_COLUMNS)
        snprintf(text, LAYOUT_WORDS, "three blocks %c, %c, %c, %s", order[0], order[1], order[2],
                 l->storing == STORED_BLOCKS ? "one below the other, each transposed to (in,out)" : "side by side, each (out,in)");
    else if (l->portions == PORTIONS_WHOLE)
        snprintf(text, LAYOUT_WORDS, "all %ss of %c, then of %c, then of %c", line, order[0], order[1], order[2]);
    else if (l->portions == PORTIONS_HEAD)
        snprintf(text, LAYOUT_WORDS, "head by head: its %ss of %c, of %c, of %c", line, order[0], order[1], order[2]);
    else if (l->portions == PORTIONS_SHARDS)
        snprintf(text, LAYOUT_WORDS, "%zu shards, each with its %ss of %c, of %c, of %c", l->shards, line, order[0], order[1], order[2]);
    else
        snprintf(text, LAYOUT_WORDS, "channel by channel: one %s of %c, one of %c, one of %c", line, order[0], order[1], order[2]);
    return text;
}
