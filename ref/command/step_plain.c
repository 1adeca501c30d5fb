/* SPDX-License-Identifier: MIT */
/* A stage as plain text: for pipes, for files, for readers without colours. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "step.h"

enum { COLUMNS = 9, ROWS = 9, BLOCKS = 6 };    /* that are written; a picture in shades is whole */
enum { SHADES = 72 };

static void print_row(const real *v, size_t count, size_t width, double largest)
{
    fputs("  ", stdout);
    for (size_t c = 0; c < count && c < COLUMNS; c++)
        printf("%*.6g  ", (int)width, isnan(v[c]) ? (double)NAN : v[c]);
    if (count > COLUMNS)
        printf("... (%zu)  ", count);
    putchar('|');
    for (size_t c = 0; c < count && c < SHADES; c++)
        putchar(step_shade(v[c], largest));
    puts("|");
}

static void print_numbers(const struct array *a)
{
    size_t C = a->shape[a->ndim - 1], T = a->ndim > 1 ? a->shape[a->ndim - 2] : 1, width = 1;
    size_t blocks = C && T ? a->size / (C * T) : 0;
    double largest = step_largest(a);

    for (size_t m = 0; m < a->size; m++) {
        char text[40];
        size_t n = (size_t)snprintf(text, sizeof text, "%.6g", a->v[m]);
        width = n > width ? n : width;
    }
    for (size_t b = 0; b < blocks && b < BLOCKS; b++) {
        if (a->ndim == 4)
            printf("[%zu,%zu]\n", b / a->shape[1], b % a->shape[1]);
        else if (a->ndim == 3)
            printf("[%zu]\n", b);
        for (size_t t = 0; t < T && t < ROWS; t++)
            print_row(a->v + (b * T + t) * C, C, width, largest);
        if (T > ROWS)
            printf("  ... (%zu rows)\n", T);
    }
    if (blocks > BLOCKS)
        printf("... (%zu blocks)\n", blocks);
}

void step_plain(const struct walk *w)
{
    const struct array *a = &w->t[w->stage];
    struct step_text torch = { .used = 0 }, formula = { .used = 0 }, element = { .used = 0 };

    step_torch(&torch, w);
    step_formula(&formula, w);
    step_explain(&element, w);
    printf("%zu/%zu %s (", walk_place(w, w->stage), walk_count(w), a->name);
    for (int d = 0; d < a->ndim; d++)
        printf(d ? ", %zu" : "%zu", a->shape[d]);
    printf(a->ndim == 1 ? ",)\n" : ")\n");
    printf("PyTorch  %s\nindex    %s\n", torch.text, formula.text);
    print_numbers(a);
    fputs(element.text, stdout);
}
