/* SPDX-License-Identifier: MIT */
/* What every part needs. */
#include "weave.h"

#include <stdarg.h>
#include <string.h>

const char *weave_error(struct weave *w, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(w->error, sizeof w->error, format, list);
    va_end(list);
    return w->error;
}

char *weave_word(char **args)
{
    char *word = *args + strspn(*args, " "), *end = word + strcspn(word, " ");

    *args = end + (*end != 0);
    *end = 0;
    return *word ? word : NULL;
}

const char *weave_vector(struct weave *w, struct vector *v, const char *name)
{
    char path[8192];
    const char *wrong;

    snprintf(path, sizeof path, "%s/%s.npz", w->vectors, name);
    wrong = vector_read(v, path, name);
    return wrong ? weave_error(w, "%s: %s", path, wrong) : NULL;
}
