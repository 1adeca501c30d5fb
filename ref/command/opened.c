/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "opened.h"

const char *prefix_text(char text[PREFIX], const struct layer *layer)
{
    size_t n = layer->length;

    if (!n)
        return strcpy(text, ".");
    snprintf(text, PREFIX, "%s%.*s", n >= PREFIX - 4 ? "..." : "", (int)(n >= PREFIX - 4 ? PREFIX - 4 : n),
             layer->prefix + (n >= PREFIX - 4 ? n - (PREFIX - 4) : 0));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return text;
}

/* What else is in a file without attention layers: the beginning of its names. */
static int complain_none(const char *path, const struct checkpoint *c)
{
    char shown[3][SHOWN] = { "" };

    for (size_t k = 0; k < c->count && k < 3; k++)
        show_name(shown[k], c->tensors[k].name, strlen(c->tensors[k].name));
    return complain(path, "no attention layers among its %zu tensors%s%s%s%s%s%s", c->count, c->count ? ": " : "", shown[0],
                    c->count > 1 ? ", " : "", shown[1], c->count > 2 ? ", " : "", shown[2]);
}

int opened_read(struct opened *o, const char *path, const char *layer)
{
    char error[SENTENCE];
    const char *wrong;
    int status = 0;

    *o = (struct opened){ 0 };
    if ((wrong = checkpoint_read(&o->file, path)))
        return complain(path, "%s", wrong);
    if ((wrong = layers_find(&o->layers, &o->file)))
        status = complain(path, "%s", wrong);
    else if (!o->layers.count)
        status = complain_none(path, &o->file);
    else if (layer && (wrong = layers_named(&o->layer, &o->layers, layer, error)))
        status = complain(path, "%s", wrong);
    if (status)
        opened_close(o);
    return status;
}

void opened_close(struct opened *o)
{
    layers_free(&o->layers);
    checkpoint_free(&o->file);
}

int heads_read(size_t *H, const char *text)
{
    size_t n = strspn(text, "0123456789");

    *H = n && n < 10 && !text[n] ? (size_t)strtoul(text, NULL, 10) : 0;
    return *H ? 0 : complain(text, "no number of heads; wanted --heads H with H from 1 on");
}
