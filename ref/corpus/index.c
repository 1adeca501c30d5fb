/* SPDX-License-Identifier: MIT */
/*
 * Letters: j the JSON text being read, k vector, i version.
 */
#include "index.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../store/grow.h"
#include "../store/text.h"
#include "json.h"

#define WRONG(c, ...) say((c)->error, sizeof (c)->error, __VA_ARGS__)

/* "category/name", each part of letters, digits, '_', '-', '.', beginning with a
 * letter or digit: a name never leads out of the directory. */
static int is_name(const char *name)
{
    int slashes = 0;

    for (const char *c = name; *c; c++) {
        int first = c == name || c[-1] == '/';
        if (*c == '/' && !first)
            slashes++;
        else if (!isalnum((unsigned char)*c) && (first || !strchr("_-.", *c)))
            return 0;
    }
    return slashes == 1 && name[strlen(name) - 1] != '/';
}

static int is_hash(const char *hash)
{
    return strlen(hash) == SHA256_HEX - 1 && strspn(hash, "0123456789abcdef") == SHA256_HEX - 1;
}

/* Replace control characters, so that the text can be printed. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* Read an array of words; join them by spaces. */
static void read_words(struct json *j, char *words, size_t size)
{
    char word[64];
    size_t used = 0;

    words[0] = 0;
    json_enter(j, '[');
    while (json_element(j) && json_text(j, word, sizeof word)) {
        size_t length = strlen(word);
        if (used + length + 2 > size)
            continue;    /* more than anybody reads in a line */
        if (used)
            words[used++] = ' ';
        memcpy(words + used, word, length + 1);
        used += length;
    }
    make_plain(words);
}

/* Append one vector. NULL, or an error message; if the JSON is malformed,
 * NULL with j->failed set. */
static const char *read_vector(struct corpus *c, struct json *j)
{
    struct corpus_vector *grown = grow(c->vectors, &c->vector_room, c->count, sizeof *grown), *v;
    char key[64], shown[SHOWN];

    if (!grown)
        return WRONG(c, "not enough memory for the index");
    c->vectors = grown;
    v = &c->vectors[c->count];
    *v = (struct corpus_vector){ 0 };
    json_enter(j, '{');
    while (json_key(j, key, sizeof key)) {
        if (!strcmp(key, "name"))
            json_text(j, v->name, sizeof v->name);
        else if (!strcmp(key, "since"))
            json_text(j, v->since, sizeof v->since);
        else if (!strcmp(key, "sha256"))
            json_text(j, v->sha256, sizeof v->sha256);
        else if (!strcmp(key, "flags"))
            read_words(j, v->flags, sizeof v->flags);
        else if (!strcmp(key, "catches"))
            read_words(j, v->catches, sizeof v->catches);
        else if (!strcmp(key, "kills_nothing_because"))
            json_text(j, v->kills_nothing_because, sizeof v->kills_nothing_because);
        else
            json_skip(j);
    }
    if (j->failed)
        return NULL;
    make_plain(v->since);
    if (!is_name(v->name))
        return WRONG(c, "line %zu: found the name '%s', wanted category/name",
                     json_line(j), show_name(shown, v->name, strlen(v->name)));
    if (!is_hash(v->sha256))
        return WRONG(c, "line %zu: %s: no sha256 of 64 digits", json_line(j), v->name);
    c->count++;
    return NULL;
}

/* Append one version, as read_vector(). */
static const char *read_version(struct corpus *c, struct json *j)
{
    struct corpus_version *grown = grow(c->versions, &c->version_room, c->version_count, sizeof *grown), *v;
    char key[64];

    if (!grown)
        return WRONG(c, "not enough memory for the index");
    c->versions = grown;
    v = &c->versions[c->version_count];
    *v = (struct corpus_version){ 0 };
    json_enter(j, '{');
    while (json_key(j, key, sizeof key)) {
        if (!strcmp(key, "version"))
            json_text(j, v->name, sizeof v->name);
        else if (!strcmp(key, "hash"))
            json_text(j, v->hash, sizeof v->hash);
        else
            json_skip(j);
    }
    if (j->failed)
        return NULL;
    make_plain(v->name);
    if (!v->name[0] || !is_hash(v->hash))
        return WRONG(c, "line %zu: a version without its name or its hash of 64 digits", json_line(j));
    if (index_version(c, v->name) < c->version_count)
        return WRONG(c, "line %zu: lists the version %s twice", json_line(j), v->name);
    c->version_count++;
    return NULL;
}

static const char *read_all(struct corpus *c, struct json *j, char format[16])
{
    char key[64];

    json_enter(j, '{');
    while (json_key(j, key, sizeof key)) {
        if (!strcmp(key, "format")) {
            json_text(j, format, 16);
        } else if (!strcmp(key, "corpus_version")) {
            json_text(j, c->version, sizeof c->version);
        } else if (!strcmp(key, "corpus_hash")) {
            json_text(j, c->hash, sizeof c->hash);
        } else if (!strcmp(key, "vectors") || !strcmp(key, "versions")) {
            const char *(*read)(struct corpus *, struct json *) = key[3] == 't' ? read_vector : read_version;
            json_enter(j, '[');
            while (json_element(j))
                if (read(c, j))
                    return c->error;
        } else {
            json_skip(j);
        }
    }
    make_plain(c->version);
    if (!json_end(j))
        return WRONG(c, "line %zu: not the JSON of an index of vectors", json_line(j));
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct corpus_vector *)a)->name, ((const struct corpus_vector *)b)->name);
}

void index_sort(struct corpus_vector *vectors, size_t count)
{
    qsort(vectors, count, sizeof *vectors, by_name);
}

size_t index_version(const struct corpus *c, const char *version)
{
    size_t i = 0;

    while (i < c->version_count && strcmp(c->versions[i].name, version) != 0)
        i++;
    return i;
}

/* Compare the hash of version i with that of the lines "name sha256" of its
 * vectors, in the order of their names. */
static int hash_agrees(const struct corpus *c, size_t i)
{
    struct sha256 s;
    char hash[SHA256_HEX];

    sha256_start(&s);
    for (size_t k = 0; k < c->count; k++) {
        if (index_version(c, c->vectors[k].since) > i)
            continue;
        sha256_add(&s, c->vectors[k].name, strlen(c->vectors[k].name));
        sha256_add(&s, " ", 1);
        sha256_add(&s, c->vectors[k].sha256, SHA256_HEX - 1);
        sha256_add(&s, "\n", 1);
    }
    sha256_finish(&s, hash);
    return !strcmp(hash, c->versions[i].hash);
}

/* An index without versions has one; a vector without its own has the oldest. */
static const char *complete_versions(struct corpus *c)
{
    if (!c->version_count) {
        if (!(c->versions = calloc(1, sizeof *c->versions)))
            return WRONG(c, "not enough memory for the index");
        c->version_count = 1;
        memcpy(c->versions[0].name, c->version, sizeof c->version);
        memcpy(c->versions[0].hash, c->hash, sizeof c->hash);
    }
    const struct corpus_version *newest = &c->versions[c->version_count - 1];
    if (strcmp(newest->name, c->version) != 0 || strcmp(newest->hash, c->hash) != 0)
        return WRONG(c, "its corpus_version %s and corpus_hash are not those of the last of its versions, %s", c->version, newest->name);
    for (size_t k = 0; k < c->count; k++) {
        struct corpus_vector *v = &c->vectors[k];
        if (!v->since[0])
            memcpy(v->since, c->versions[0].name, sizeof v->since);
        if (index_version(c, v->since) == c->version_count)
            return WRONG(c, "%s: found since %s, wanted one of its versions", v->name, v->since);
    }
    return NULL;
}

const char *index_parse(struct corpus *c, const char *text, size_t length)
{
    struct json j;
    char format[16] = "";

    json_start(&j, text, length);
    if (read_all(c, &j, format))
        return c->error;
    if (strcmp(format, "1") != 0)
        return WRONG(c, "found format %s, wanted 1", format[0] ? format : "none");
    if (!c->version[0] || !is_hash(c->hash))
        return WRONG(c, "has no corpus_version or no corpus_hash");
    if (!c->count)
        return WRONG(c, "lists no vector");
    index_sort(c->vectors, c->count);
    for (size_t k = 1; k < c->count; k++)
        if (!strcmp(c->vectors[k - 1].name, c->vectors[k].name))
            return WRONG(c, "lists %s twice", c->vectors[k].name);
    if (complete_versions(c))
        return c->error;
    for (size_t i = 0; i < c->version_count; i++)
        if (!hash_agrees(c, i))
            return i + 1 < c->version_count ? WRONG(c, "the hash of version %s is not that of the vectors it lists", c->versions[i].name)
                                            : WRONG(c, "its corpus_hash is not that of the vectors it lists");
    return NULL;
}
