/* SPDX-License-Identifier: MIT */
/* Any bytes as an .npz file: read or refused, and what was read is written back
 * the same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../ref/store/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npz z;

    if (npz_read_memory(&z, data, size)) {
        assert(z.count == 0 && z.arrays == NULL && z.error[0]);
        return 0;
    }
    for (size_t i = 0; i < z.count; i++) {
        const struct npz_array *a = &z.arrays[i];
        struct npz_array b = { 0 };
        char text[128], error[SENTENCE];
        size_t length, item = npz_type_size(a->type);
        unsigned char *bytes = npy_make(&length, a);

        assert(npz_get(&z, a->name) == a && strlen(npz_shape_text(text, a)) < 128);
        for (size_t k = 0; k < a->size; k++)
            (void)npz_value(a, k);
        assert(bytes && !npy_take(&b, bytes, length, error));
        assert(a->type == b.type && a->ndim == b.ndim && a->size == b.size);
        assert(memcmp(a->data, b.data, a->size * item) == 0);
        free(b.data);
    }
    npz_free(&z);
    return 0;
}
