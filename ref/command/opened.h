/* SPDX-License-Identifier: MIT */
/* A checkpoint, its attention layers, and the one that was named. */
#ifndef QKVEC_OPENED_H
#define QKVEC_OPENED_H

#include "../checkpoint/layer.h"

struct opened {
    struct checkpoint file;
    struct layers layers;
    const struct layer *layer;    /* NULL where none was named */
};

/* 0, or NOT_JUDGED after a complaint; then nothing is left to close. */
int opened_read(struct opened *o, const char *path, const char *layer);
void opened_close(struct opened *o);

/* "transformer_encoder.layers.0.self_attn", or "." for a module alone. */
#define PREFIX 128
const char *prefix_text(char text[PREFIX], const struct layer *layer);

/* A number of heads from an option, or NOT_JUDGED after a complaint. */
int heads_read(size_t *H, const char *text);

#endif
