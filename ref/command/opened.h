/* SPDX-License-Identifier: MIT */
/* A checkpoint, its attention layers, and the one that the command line names. */
#ifndef QKVEC_OPENED_H
#define QKVEC_OPENED_H

#include "../checkpoint/layer.h"

/* What options say about the names and shapes of layers. */
struct opened_options {
    const char *heads, *key_heads, *layout;    /* texts of --heads, --kv-heads, --layout; NULL: not given */
    const char *names[8];                      /* q, k, v, qkv, out, q_bias, k_bias, v_bias of --name; NULL: not given */
};

struct opened {
    struct checkpoint file;
    struct config config;
    struct layers layers;
    const struct layer *layer;    /* NULL if none was named */
    size_t H;                     /* of --heads; 0: not given */
    struct layout layout;         /* of --layout */
    struct naming naming;         /* of --name */
    char names[16][NAMING_KEY];
};

/* Move every --name PART=KEY of a command line, which may repeat, into the
 * options. Returns 0, or NOT_JUDGED after a complaint. */
int opened_take_names(int *argc, char **argv, struct opened_options *options);

/* Read a checkpoint and find its layers. Returns 0, or NOT_JUDGED after a
 * complaint; then nothing is left to close. */
int opened_read(struct opened *o, const char *path, const char *layer, const struct opened_options *options);
void opened_close(struct opened *o);

/* Write notes to standard error: objects of the file that are not read, and
 * tensors of the layer that are not used. */
void opened_notes(const struct opened *o, const char *path, const struct layer *layer);

/* Write "transformer_encoder.layers.0.self_attn", or "." for a module alone. Returns text. */
#define PREFIX 128
const char *prefix_text(char text[PREFIX], const struct layer *layer);

/* Read a number of heads from an option. Returns 0, or NOT_JUDGED after a complaint. */
int heads_read(size_t *H, const char *text, const char *option);

#endif
