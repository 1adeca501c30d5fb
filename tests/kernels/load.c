/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* POSIX promises that a data pointer can hold a function. */
static call_kernel *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    call_kernel *f = NULL;
    memcpy(&f, &found, sizeof f);
    return f;
}

const char *kernel_open(struct kernel *x, const char *path)
{
    const char *slash = strrchr(path, '/');

    *x = (struct kernel){ .library = dlopen(path, RTLD_NOW | RTLD_LOCAL) };
    if (!x->library)
        return dlerror();
    snprintf(x->name, sizeof x->name, "%s", slash ? slash + 1 : path);
    x->name[strcspn(x->name, ".")] = '\0';
    x->card = dlsym(x->library, "kit_card");
    x->layer = function(x->library, "qkvec_kernel");
    x->core = function(x->library, "qkvec_attention_core");
    if (!x->card || !x->layer)
        return "exports no kit_card, or no qkvec_kernel";
    if (!(x->profile = profile_named(x->card->profile)))
        return "its card names no profile";
    x->honest = strcmp(x->card->meets, x->card->profile) == 0;
    return NULL;
}
