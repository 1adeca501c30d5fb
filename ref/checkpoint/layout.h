/* SPDX-License-Identifier: MIT */
/*
 * Where the numbers of q, k and v lie in one packed weight.
 *
 * A packed weight has 3E outputs of E inputs each. A layout says which output
 * belongs to which channel of which of the three, and how outputs and inputs
 * lie in memory. The (3E,E) of PyTorch is "qkv": whole rows, q, then k, then v.
 */
#ifndef QKVEC_LAYOUT_H
#define QKVEC_LAYOUT_H

#include <stddef.h>

/* In what portions the three take turns. */
enum turns {
    TURNS_WHOLE,      /* (3,H,D): all of one, then all of the next */
    TURNS_HEAD,       /* (H,3,D): one head of each, head by head */
    TURNS_ELEMENT,    /* (H,D,3): one channel of each */
    TURNS
};

/* How the numbers lie in memory, whatever shape the file gives them. */
enum storing {
    STORED_ROWS,      /* (3E outputs, E inputs): nn.Linear */
    STORED_COLUMNS,   /* (E inputs, 3E outputs): Conv1D, x @ W */
    STORED_BLOCKS,    /* three (E inputs, E outputs), one below the other: each transposed */
    STORED_SIDE,      /* three (E outputs, E inputs), side by side */
    STORINGS
};

struct layout {
    unsigned char slot[3];    /* of q, k and v: whose turn it is, 0 to 2 */
    enum turns turns;         /* blocks and side go with whole turns alone */
    enum storing storing;
};

#define LAYOUT_ORDERS 6
extern const struct layout layout_pytorch;

/* The slots of order k of the 6: qkv, qvk, kqv, kvq, vqk, vkq. */
void layout_order(unsigned char slot[3], int k);

/* The output, 0 to 3E-1, of channel e of q, k or v (which is 0, 1 or 2). */
size_t layout_output(const struct layout *l, int which, size_t e, size_t E, size_t H);

/* Where the number for an output and an input lies. */
size_t layout_index(enum storing storing, size_t output, size_t input, size_t E);

/* "qkv", "kqv,head", "qkv,columns": as --layout takes it. Returns text. */
#define LAYOUT_TEXT 32
const char *layout_text(char text[LAYOUT_TEXT], const struct layout *l);

/* The inverse. NULL, or a sentence. */
const char *layout_parse(struct layout *l, const char *text);

/* The same in words, of a packed or of three separate weights. Returns text. */
#define LAYOUT_WORDS 200
const char *layout_words(char text[LAYOUT_WORDS], const struct layout *l, int separate);

#endif
