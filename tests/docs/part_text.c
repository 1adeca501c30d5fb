/* SPDX-License-Identifier: MIT */
/* POSIX: popen, to run a command as a reader does. */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "weave.h"

/* As typed in the source tree, with build/qkvec as qkvec: pipes and all. */
const char *part_run(struct weave *w, char *args)
{
    char *command = malloc(strlen(args) + 256);
    int c, last = '\n', status;
    FILE *p;

    if (!command || setenv("QKVEC_PROGRAM", w->qkvec, 1) || setenv("QKVEC_VECTORS", w->vectors, 1) || setenv("QKVEC_SOURCE", w->source, 1)) {
        free(command);
        return "not enough memory";
    }
    sprintf(command, "qkvec() { \"$QKVEC_PROGRAM\" \"$@\"; }; cd \"$QKVEC_SOURCE\" && { %s; } 2>&1", args);
    p = popen(command, "r");
    free(command);
    if (!p)
        return "the command cannot be started";
    fprintf(w->out, "```console\n$ %s\n", args);
    for (; (c = getc(p)) != EOF; last = c)
        putc(c, w->out);
    fputs(last == '\n' ? "```\n" : "\n```\n", w->out);
    status = pclose(p);
    return status ? weave_error(w, "the command ends with status %d: %s", status / 256, args) : NULL;
}

/* Does this line begin the definition of that function? */
static int defines(const char *line, const char *name)
{
    size_t length = strlen(name);

    if (!isalpha((unsigned char)*line) || line[strcspn(line, "\n") - 1] == ';')
        return 0;
    for (const char *at = line; at < line + strcspn(line, "\n(") - length + 1; at++)
        if (!strncmp(at, name, length) && at[length] == '(' && (at == line || at[-1] == ' ' || at[-1] == '*'))
            return 1;
    return 0;
}

/* The function, and the comment that stands right above it. */
static const char *print_function(struct weave *w, const char *text, const char *name)
{
    const char *comment = NULL;

    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        if (!strncmp(line, "/*", 2) || (comment && !strncmp(line, " *", 2)))
            comment = comment && !strncmp(line, " *", 2) ? comment : line;
        else if (defines(line, name)) {
            const char *from = comment ? comment : line, *end = strstr(line, "\n}\n");
            if (!end)
                break;
            fprintf(w->out, "```c\n%.*s```\n", (int)(end + 3 - from), from);
            return NULL;
        } else
            comment = NULL;
    }
    return weave_error(w, "mha.c has no function %s", name);
}

const char *part_code(struct weave *w, char *args)
{
    char path[8192], *text = calloc(1 << 18, 1);
    const char *wrong = "mha.c cannot be read";
    FILE *f;

    snprintf(path, sizeof path, "%s/ref/recipe/mha.c", w->source);
    if (text && (f = fopen(path, "rb"))) {
        if (fread(text, 1, (1 << 18) - 1, f))
            wrong = print_function(w, text, args);
        fclose(f);
    }
    free(text);
    return wrong;
}
