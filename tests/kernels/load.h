/* SPDX-License-Identifier: MIT */
/* A kernel of these folders as a loaded library. */
#ifndef LOAD_H
#define LOAD_H

#include "card.h"
#include "host/call.h"

struct kernel {
    void *library;
    char name[64];
    const struct kit_card *card;
    const struct profile *profile;
    call_kernel *layer, *core;
    int honest;
};

/* NULL, or what is wrong with the library. It stays loaded. */
const char *kernel_open(struct kernel *x, const char *path);

#endif
