/* SPDX-License-Identifier: MIT */
/* The stages one by one: what PyTorch writes there, the index formula, and one
 * element spelled out in the numbers of the stage before. */
#ifndef QKVEC_STEP_H
#define QKVEC_STEP_H

#include "../judge/expected.h"

/* A vector, its golden stages (what the file does not store is interpreted),
 * and the element that is looked at. */
struct walk {
    const struct vector *v;
    struct expected expected;
    const struct array *t, *sigma;    /* STAGES each, of the main answer under float32 */
    enum mha_stage stage;
    size_t at[4];                     /* index of the element, 0 in unused dimensions */
};

/* NULL, or a sentence (then nothing is left to close). */
const char *walk_open(struct walk *w, const struct vector *v);
void walk_close(struct walk *w);

/* Of the stages that exist: how many, the place of one among them (from 1 on),
 * the one at a place (STAGES where there is none), the neighbour or itself. */
size_t walk_count(const struct walk *w);
size_t walk_place(const struct walk *w, enum mha_stage k);
enum mha_stage walk_at(const struct walk *w, size_t place);
enum mha_stage walk_neighbour(const struct walk *w, enum mha_stage k, int forward);
void walk_go(struct walk *w, enum mha_stage k);
size_t walk_offset(const struct walk *w);    /* of the element in its array */

/* Text that is cut where it does not fit. */
#define STEP_TEXT 4096
struct step_text {
    char text[STEP_TEXT];
    size_t used;
};
void step_add(struct step_text *x, const char *format, ...) QKVEC_PRINTF(2, 3);
void step_index(struct step_text *x, const char *name, int ndim, const size_t *at);

/* The line that PyTorch has for a stage, and its index formula. */
void step_torch(struct step_text *x, const struct walk *w);
void step_formula(struct step_text *x, const struct walk *w);

/* How the element came about, one sentence to a line: where its numbers are,
 * the numbers, and how far rounding may move it. */
void step_explain(struct step_text *x, const struct walk *w);

/* '#' for the largest absolute value of a stage, ' ' for 0, '?' for NaN. */
double step_largest(const struct array *a);
char step_shade(double x, double largest);

void step_plain(const struct walk *w);    /* one stage on standard output */

/* In a terminal, until the reader leaves. 0, or NOT_JUDGED after a complaint. */
int step_screen(struct walk *w);
void step_draw(const struct walk *w, const char *typed, int rows, int columns);

#endif
