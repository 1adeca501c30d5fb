/* SPDX-License-Identifier: MIT */
/* What the parts of a page share. */
#ifndef WEAVE_H
#define WEAVE_H

#include "faults/narrow.h"
#include "corpus/vector.h"
#include "tests/faults/matrix.h"

struct weave {
    FILE *out;                 /* the page as it should be */
    const char *qkvec;         /* the program, an absolute path */
    const char *source;        /* the source tree, likewise */
    char vectors[4096];
    int chinese;               /* the page is *.zh.md */
    struct matrix matrix;      /* under float32; made when it is first asked for */
    int made;
    char error[512];
};

/* Each writes the block of a directive from what stands behind its colon. NULL, or a sentence. */
const char *part_run(struct weave *w, char *args);        /* a command and what it prints */
const char *part_code(struct weave *w, char *args);       /* a function of mha.c with its comment */
const char *part_diff(struct weave *w, char *args);       /* a mistake as a diff */
const char *part_why(struct weave *w, char *args);        /* its sentence */
const char *part_killer(struct weave *w, char *args);     /* the vector that catches it */
const char *part_mistake(struct weave *w, char *args);    /* all three */
const char *part_mistakes(struct weave *w, char *args);   /* several, in a table */
const char *part_layout(struct weave *w, char *args);     /* where numbers lie: rows, heads, merge, batch */
const char *part_what(struct weave *w, char *args);       /* core/printable with something changed */
const char *part_stages(struct weave *w, char *args);     /* the recipe against PyTorch, stage by stage */
const char *part_scale(struct weave *w, char *args);      /* the same scores, scaled in four places */

/* The directory of the vectors judged against all mistakes, once. NULL, or a sentence. */
const char *weave_matrix(struct weave *w);

/* The vector that catches a mistake best: made for it, else of core/, the clearest among equals. */
struct killer {
    char name[CORPUS_NAME];
    double error;              /* in sigma; infinite where NaN or infinity do not match */
    size_t count, vectors;     /* that reject it, of so many */
};
const char *weave_killer(struct weave *w, const struct fault *f, struct killer *k);
const char *weave_killers(struct weave *w, const char *path);    /* all of them into a file */
const char *weave_why(struct weave *w, const struct fault *f, int chinese, char *text, size_t size);
void weave_sigma(FILE *f, double error);    /* "4.6e+05 sigma" */

/* One vector by name; vector_free() it. */
const char *weave_vector(struct weave *w, struct vector *v, const char *name);

/* Every stage of the recipe in float, as doubles; stage is made by mha_alloc. */
const char *float_stages(double *const stage[STAGES], const struct mha_in *in);
const char *float_recipe(struct narrow *n, double *const stage[STAGES]);

/* Sentences with names in them. */
const char *weave_error(struct weave *w, const char *format, ...) QKVEC_PRINTF(2, 3);

/* The next word of *args, cut off; NULL at the end. */
char *weave_word(char **args);

#endif
