/* SPDX-License-Identifier: MIT */
/* Numbers as text that reads back as the same number. */
#ifndef QKVEC_NUMBERS_H
#define QKVEC_NUMBERS_H

#include <stdio.h>

#include "../store/npz.h"

/* The shortest decimal text of element i that reads back as the same number of
 * its type, or with exact its hexadecimal form. Returns text. */
#define NUMBER 40
const char *number_text(char text[NUMBER], const struct npz_array *a, size_t i, int exact);

/* The array's name, type and shape on a line, then its rows: the last
 * dimension runs along the line, the indices of the others stand above. */
void print_array(FILE *f, const struct npz_array *a, int exact);

/* "N=3 L=4 S=7 ..." */
struct mha_in;
#define SIZES 256
const char *sizes_text(char text[SIZES], const struct mha_in *in);

#endif
