/* SPDX-License-Identifier: MIT */
#include "numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../recipe/mha.h"

const char *number_text(char text[NUMBER], const struct npz_array *a, size_t i, int exact)
{
    double x = npz_value(a, i);
    int single = a->type == NPZ_F4 || a->type == NPZ_F2;

    if (a->type != NPZ_F8 && !single) {
        snprintf(text, NUMBER, "%.0f", x);
    } else if (isnan(x)) {
        strcpy(text, "nan");    /* whatever its sign, which means nothing */
    } else if (exact) {
        snprintf(text, NUMBER, "%a", x);
    } else {
        /* Every decimal of 15 digits (6 for float) survives, and %g drops the zeros behind. */
        for (int digits = single ? 6 : 15; digits <= 17; digits++) {
            snprintf(text, NUMBER, "%.*g", digits, x);
            if (single ? (float)x == strtof(text, NULL) : x == strtod(text, NULL))
                break;
        }
    }
    return text;
}

void print_array(FILE *f, const struct npz_array *a, int exact)
{
    char shape[128], number[NUMBER];
    size_t columns = a->ndim ? a->shape[a->ndim - 1] : 1, width = 0;
    size_t lines = a->ndim > 1 ? a->shape[a->ndim - 2] : 1;

    fprintf(f, "%s %s %s\n", a->name, npz_type_name(a->type), npz_shape_text(shape, a));
    for (size_t i = 0; i < a->size; i++) {
        size_t length = strlen(number_text(number, a, i, exact));
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < a->size; i++) {
        if (a->ndim > 2 && i % (lines * columns) == 0) {    /* the indices of this block */
            size_t block = i / (lines * columns);
            if (a->ndim == 4)
                fprintf(f, "[%zu,%zu]\n", block / a->shape[1], block % a->shape[1]);
            else
                fprintf(f, "[%zu]\n", block);
        }
        fprintf(f, "  %*s%s", (int)width, number_text(number, a, i, exact), i % columns == columns - 1 ? "\n" : "");
    }
}

const char *sizes_text(char text[SIZES], const struct mha_in *in)
{
    int used = snprintf(text, SIZES, "N=%zu L=%zu S=%zu E=%zu H=%zu D=%zu", in->N, in->L, in->S, in->E, in->H, in->E / in->H);

    if (used > 0 && used < SIZES && (in->Ek != in->E || in->Ev != in->E))
        snprintf(text + used, SIZES - (size_t)used, " Ek=%zu Ev=%zu", in->Ek, in->Ev);
    return text;
}
