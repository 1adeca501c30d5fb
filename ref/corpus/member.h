/* SPDX-License-Identifier: MIT */
/*
 * The members of a vector file that hold numbers to compute with: name, place
 * in struct mha_in, and shape. Of vector.c and vector_pack.c alone.
 */
#ifndef QKVEC_MEMBER_H
#define QKVEC_MEMBER_H

#include "../recipe/mha.h"
#include "../store/npz.h"

enum member_kind { PARAMETER, ARGUMENT };

struct member {
    const char *name;
    size_t at;                 /* of its pointer in struct mha_in */
    enum member_kind kind;
    const char *shape[3];      /* batch first, batch second, unbatched; letters as in mha.h, "|" between alternatives */
    const char *source;        /* where the letters come from, for the sentence about a wrong shape */
};

enum { MEMBERS = 12 };
extern const struct member members[MEMBERS];    /* arguments first, then parameters in PyTorch's order */

/* Masks have no pointer of their own; the shape alone. */
extern const struct member attn_mask_member, key_padding_mask_member;

/* The shapes of a member in the layout of in. */
const char *member_shape(const struct member *m, const struct mha_in *in);

/* Work out alternative number which of a shape. Returns its dimensions, or -1 where there is no such alternative. */
int member_dims(size_t shape[NPZ_DIMS], const char *letters, int which, const struct mha_in *in);

/* "(L, S) = (4, 7) or (N*H, L, S) = (6, 4, 7)". Returns text. */
const char *member_wanted(char text[200], const char *letters, const struct mha_in *in);

/* The array has one of the shapes. */
int member_fits(const struct npz_array *a, const char *letters, const struct mha_in *in);

#endif
