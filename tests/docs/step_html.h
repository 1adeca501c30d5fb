/* SPDX-License-Identifier: MIT */
/* The scenes of step.html: core/printable as it is, and with masks and appended rows. */
#ifndef STEP_HTML_H
#define STEP_HTML_H

#include "weave.h"

enum { SCENES = 3, SCENE_NUMBERS = 8 };

struct scene {
    const char *english, *chinese;
    int golden;                  /* its numbers are PyTorch's, as stored */
    const char *const *mistakes; /* NULL ends them */
    struct vector v;             /* with v.in changed */
    unsigned char masked[SCENE_NUMBERS];
    double bias[2][SCENE_NUMBERS];
};

const char *scene_make(struct scene *s, struct weave *w, int which);

#endif
