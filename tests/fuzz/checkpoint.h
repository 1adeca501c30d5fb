/* SPDX-License-Identifier: MIT */
/* What the two fuzz targets of checkpoints do with bytes. */
#ifndef QKVEC_FUZZ_CHECKPOINT_H
#define QKVEC_FUZZ_CHECKPOINT_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../ref/checkpoint/layer.h"

static const struct clues no_clues;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fuzz_checkpoint(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct checkpoint c;
    struct layers layers;
    char error[SENTENCE];

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (checkpoint_read_memory(&c, copy, size)) {
        assert(c.count == 0 && c.tensors == NULL && c.error[0]);
        return 0;
    }
    for (size_t k = 0; k < c.count; k++) {
        const struct tensor *t = &c.tensors[k];
        struct npz z = { 0 };
        char text[192];
        assert(checkpoint_get(&c, "", 0, t->name) == t && strlen(tensor_shape_text(text, t)) < 192);
        if (checkpoint_take(&z, "x", t, error))
            assert(error[0]);
        npz_free(&z);
    }
    if (!layers_find(&layers, &c, &no_clues))
        for (size_t k = 0; k < layers.count; k++) {
            const struct layer *l = &layers.layer[k], *found;
            struct npz z = { 0 };
            if (l->problem[0])
                continue;
            layers_named(&found, &layers, l->length ? l->prefix : ".", error);
            if (layer_split(&z, l, &layout_pytorch, 1, error))
                assert(error[0]);
            else
                assert(npz_get(&z, "q_weight")->size == l->rows[0] * l->E);
            npz_free(&z);
        }
    layers_free(&layers);
    checkpoint_free(&c);
    return 0;
}

#endif
