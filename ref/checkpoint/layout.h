/* SPDX-License-Identifier: MIT */
/*
 * Where the numbers of q, k and v lie in one packed weight.
 *
 * A packed weight has A + K + V outputs of E inputs each: A outputs of q, K of
 * k, V of v (all E in nn.MultiheadAttention). A layout gives the output that
 * belongs to each channel of q, k and v, and how outputs and inputs lie in
 * memory. The (3E,E) of PyTorch is "qkv": all rows of q, then k, then v.
 */
#ifndef QKVEC_LAYOUT_H
#define QKVEC_LAYOUT_H

#include <stddef.h>

/* The outputs are cut into equal portions; each portion holds its share of the
 * first of the three, then of the second, then of the third. */
enum portions {
    PORTIONS_WHOLE,      /* one portion */
    PORTIONS_HEAD,       /* one for each key head: (G, H/G + 2, D), or (H, 3, D) if G = H */
    PORTIONS_ELEMENT,    /* one for each channel: (H, D, 3) */
    PORTIONS_SHARDS,     /* layout.shards of them, as tensor parallel ranks hold them */
    PORTIONS
};

/* How the numbers lie in memory, whatever shape the file gives them. */
enum storing {
    STORED_ROWS,      /* (3E outputs, E inputs): nn.Linear */
    STORED_COLUMNS,   /* (E inputs, 3E outputs): Conv1D, x @ W */
    STORED_BLOCKS,    /* three (E inputs, E outputs), one below the other, each transposed; three separate (in,out) */
    STORED_SIDE,      /* three (E outputs, E inputs), side by side */
    STORINGS
};

struct layout {
    unsigned char slot[3];      /* the place of q, k and v in a portion, 0 to 2 */
    enum portions portions;     /* blocks and side require whole */
    enum storing storing;
    size_t shards;              /* of PORTIONS_SHARDS */
};

/* The sizes of a packed weight. */
struct outputs {
    size_t inputs;       /* E */
    size_t rows[3];      /* outputs of q, k and v */
    size_t heads;        /* key heads G, for PORTIONS_HEAD */
};

#define LAYOUT_ORDERS 6
extern const struct layout layout_pytorch;

/* Set the slots to order k of the 6: qkv, qvk, kqv, kvq, vqk, vkq. */
void layout_order(unsigned char slot[3], int k);

/* Return the number of portions, or 0 if the outputs cannot be cut like that. */
size_t layout_portions(const struct layout *l, const struct outputs *o);

/* Return the output of the packed weight for channel e of q, k or v (which 0,
 * 1 or 2), from 0 to A+K+V-1. layout_portions() must not be 0. */
size_t layout_output(const struct layout *l, const struct outputs *o, int which, size_t e);

/* Return the place of the number for an output and an input. BLOCKS and SIDE
 * require rows that are all equal. */
size_t layout_index(enum storing storing, const struct outputs *o, size_t output, size_t input);

/* Write "qkv", "kqv,head", "qvk,shards=4", "qkv,columns", as --layout takes it. Returns text. */
#define LAYOUT_TEXT 48
const char *layout_text(char text[LAYOUT_TEXT], const struct layout *l);

/* Parse such a text. Returns NULL or an error message. */
const char *layout_parse(struct layout *l, const char *text);

/* Write the same in words, for a packed weight or three separate ones. Returns text. */
#define LAYOUT_WORDS 200
const char *layout_words(char text[LAYOUT_WORDS], const struct layout *l, int separate);

#endif
