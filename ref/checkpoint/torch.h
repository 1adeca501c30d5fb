/* SPDX-License-Identifier: MIT */
/* What the two containers of torch.save() share. Of torch*.c alone. */
#ifndef QKVEC_TORCH_H
#define QKVEC_TORCH_H

#include "checkpoint.h"
#include "pickle.h"

#define TORCH_NESTED 16                       /* dicts inside dicts */
#define TORCH_ENTRIES ((size_t)1 << 21)       /* of all dicts, each as often as it is met */

struct torch_storage {
    const unsigned char *key;
    size_t key_length, elements;
    enum tensor_type type;
    const char *type_name;
    unsigned item;                            /* bytes of an element */
};

/* Where the container keeps a storage: fills in data or packed of t. */
struct torch_place {
    const char *(*find)(struct tensor *t, const struct torch_storage *s, void *context, char error[SENTENCE]);
    void *context;
};

/* A persistent id, understood. */
const char *torch_storage(struct torch_storage *s, const struct pickle *p, const struct value *v, char error[SENTENCE]);

/* Every tensor of the dict at root and of the dicts in it. NULL, or c->error. */
const char *torch_tensors(struct checkpoint *c, const struct pickle *p, uint32_t root, const struct torch_place *place);

#endif
