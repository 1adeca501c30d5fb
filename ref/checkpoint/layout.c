/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <stdio.h>
#include <string.h>

const struct layout layout_pytorch = { { 0, 1, 2 }, TURNS_WHOLE, STORED_ROWS };

static const char *const turns_names[TURNS] = { "whole", "head", "element" };
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

size_t layout_output(const struct layout *l, int which, size_t e, size_t E, size_t H)
{
    size_t D = E / H, h = e / D, d = e % D, s = l->slot[which];

    return l->turns == TURNS_WHOLE ? s * E + e : l->turns == TURNS_HEAD ? (h * 3 + s) * D + d : e * 3 + s;
}

size_t layout_index(enum storing storing, size_t output, size_t input, size_t E)
{
    size_t block = output / E, e = output % E;

    switch (storing) {
    case STORED_COLUMNS: return input * 3 * E + output;
    case STORED_BLOCKS:  return (block * E + input) * E + e;
    case STORED_SIDE:    return (e * 3 + block) * E + input;
    default:             return output * E + input;
    }
}

/* The letters in the order of their turns. */
static void order_text(char order[4], const struct layout *l)
{
    for (int which = 0; which < 3; which++)
        order[l->slot[which]] = "qkv"[which];
    order[3] = '\0';
}

const char *layout_text(char text[LAYOUT_TEXT], const struct layout *l)
{
    char order[4];

    order_text(order, l);
    snprintf(text, LAYOUT_TEXT, "%s%s%s%s%s", order, l->turns ? "," : "", l->turns ? turns_names[l->turns] : "",
             l->storing ? "," : "", l->storing ? storing_names[l->storing] : "");
    return text;
}

static int word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}

const char *layout_parse(struct layout *l, const char *text)
{
    *l = layout_pytorch;
    for (const char *word = text; ; ) {
        size_t length = strcspn(word, ",");
        int known = 0;
        for (int k = 0; k < LAYOUT_ORDERS; k++)
            if (word == text && word_is(word, length, orders[k])) {
                take_order(l->slot, orders[k]);
                known = 1;
            }
        for (int k = 0; k < TURNS; k++)
            if (word != text && word_is(word, length, turns_names[k])) {
                l->turns = (enum turns)k;
                known = 1;
            }
        for (int k = 0; k < STORINGS; k++)
            if (word != text && word_is(word, length, storing_names[k])) {
                l->storing = (enum storing)k;
                known = 1;
            }
        if (!known)
            return "no such layout; wanted the order (qkv, kqv, ...), then ,head or ,element and ,columns, ,blocks or ,side where they apply";
        if (!word[length])
            break;
        word += length + 1;
    }
    if (l->turns != TURNS_WHOLE && l->storing > STORED_COLUMNS)
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
    else if (l->turns == TURNS_WHOLE)
        snprintf(text, LAYOUT_WORDS, "all %ss of %c, then of %c, then of %c", line, order[0], order[1], order[2]);
    else if (l->turns == TURNS_HEAD)
        snprintf(text, LAYOUT_WORDS, "head by head: its %ss of %c, of %c, of %c", line, order[0], order[1], order[2]);
    else
        snprintf(text, LAYOUT_WORDS, "channel by channel: one %s of %c, one of %c, one of %c", line, order[0], order[1], order[2]);
    return text;
}
