/* SPDX-License-Identifier: MIT */
/* POSIX: strdup. */
#define _POSIX_C_SOURCE 200809L
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/file.h"
#include "../store/text.h"
#include "index.h"
#include "place.h"

#define LARGEST_INDEX ((size_t)16 << 20)

static const char *read_index(struct corpus *c, const char *dir)
{
    unsigned char *text;
    size_t length, size;
    char path[4096], error[SENTENCE], wrong[sizeof c->error];

    if (!(c->dir = dir ? strdup(dir) : place_vectors()))
        return say(c->error, sizeof c->error, "vectors: not enough memory for the path");
    size = (size_t)snprintf(path, sizeof path, "%s/index.json", c->dir);
    if (size >= sizeof path)
        return say(c->error, sizeof c->error, "%.180s...: the path has %zu bytes, wanted at most %zu", c->dir, size, sizeof path - 1);
    if (file_read(&text, &length, path, LARGEST_INDEX, error))
        return say(c->error, sizeof c->error, "%.300s: %s; name the directory of the vectors with --vectors DIR or QKVEC_VECTORS",
                   path, error);
    if (index_parse(c, (const char *)text, length)) {
        memcpy(wrong, c->error, sizeof wrong);
        say(c->error, sizeof c->error, "%.180s: %.570s", path, wrong);
    }
    free(text);
    return c->error[0] ? c->error : NULL;
}

const char *corpus_open(struct corpus *c, const char *dir)
{
    char error[sizeof c->error];

    *c = (struct corpus){ 0 };
    if (!read_index(c, dir))
        return NULL;
    memcpy(error, c->error, sizeof error);
    corpus_close(c);
    memcpy(c->error, error, sizeof error);
    return c->error;
}

void corpus_close(struct corpus *c)
{
    free(c->dir);
    free(c->vectors);
    free(c->versions);
    *c = (struct corpus){ 0 };
}

const char *corpus_check_version(struct corpus *c, const char *version)
{
    char known[256] = "", shown[SHOWN];

    if (index_version(c, version) < c->version_count)
        return NULL;
    for (size_t i = 0; i < c->version_count && strlen(known) + CORPUS_VERSION + 4 < sizeof known; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                 i == 0 ? "" : i + 1 < c->version_count ? ", " : " or ", c->versions[i].name);
    return say(c->error, sizeof c->error, "%s: no such version of the corpus; wanted %s", show_name(shown, version, strlen(version)), known);
}

const char *corpus_use_version(struct corpus *c, const char *version)
{
    size_t chosen = index_version(c, version), kept = 0;

    if (corpus_check_version(c, version))
        return c->error;
    for (size_t k = 0; k < c->count; k++)
        if (index_version(c, c->vectors[k].since) <= chosen) {
            struct corpus_vector v = c->vectors[k];
            c->vectors[k] = c->vectors[kept];
            c->vectors[kept++] = v;
        }
    c->newer = c->count - kept;
    c->count = kept;
    index_sort(c->vectors + kept, c->newer);
    memcpy(c->version, c->versions[chosen].name, sizeof c->version);
    memcpy(c->hash, c->versions[chosen].hash, sizeof c->hash);
    return NULL;
}

static int compare_name(const void *name, const void *vector)
{
    return strcmp(name, ((const struct corpus_vector *)vector)->name);
}

const struct corpus_vector *corpus_find(const struct corpus *c, const char *name)
{
    return c->count ? bsearch(name, c->vectors, c->count, sizeof *c->vectors, compare_name) : NULL;
}
