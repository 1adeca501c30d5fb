/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of torch.save(), and as the pickle inside of one: read or
 * refused, and every tensor and attention layer in it taken apart. */
#include "checkpoint.h"
#include "../../ref/checkpoint/torch.h"

static const unsigned char block[4096];    /* every storage */

static const char *find(struct tensor *t, const struct torch_storage *s, void *context, char error[SENTENCE])
{
    (void)context;
    if (s->elements > sizeof block / s->item)
        return say(error, SENTENCE, "too large");
    t->data = block;
    return NULL;
}

/* The pickle alone: a mutation of it does not have to fit an archive. */
static void fuzz_pickle(const uint8_t *data, size_t size)
{
    struct checkpoint c = { 0 };
    struct pickle p;
    uint32_t root;
    size_t used;

    pickle_start(&p, "fuzz", c.error);
    if (!pickle_run(&root, &used, &p, data, size) && !torch_tensors(&c, &p, root, &(struct torch_place){ find, NULL }))
        for (size_t k = 0; k < c.count; k++) {
            struct npz z = { 0 };
            char error[SENTENCE] = "";
            if (c.tensors[k].type != TENSOR_OTHER && !tensor_check(&c.tensors[k], error))
                checkpoint_take(&z, "x", &c.tensors[k], error);
            npz_free(&z);
        }
    pickle_free(&p);
    checkpoint_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_pickle(data, size);
    return fuzz_checkpoint(data, size);
}
