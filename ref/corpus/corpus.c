/* SPDX-License-Identifier: MIT */
/* POSIX: real paths and fnmatch. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700

#include "corpus.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../store/file.h"
#include "json.h"
#include "../store/npz.h"
#include "place.h"

#define LARGEST_INDEX ((size_t)16 << 20)

/* dir/name, to free; or NULL. */
static char *joined(const char *dir, const char *name, const char *suffix)
{
    size_t size = strlen(dir) + strlen(name) + strlen(suffix) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s/%s%s", dir, name, suffix);
    return path;
}

/* ---- the index ---- */

/* "category/name", each part of letters, digits, '_', '-', '.', beginning with a
 * letter or digit: a name never leads out of the directory. */
static int good_name(const char *name)
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

static int good_hash(const char *hash)
{
    return strlen(hash) == SHA256_HEX - 1 && strspn(hash, "0123456789abcdef") == SHA256_HEX - 1;
}

/* What is printed later holds no control characters. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* An array of words, joined by spaces. */
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

static const char *read_entry(struct corpus *c, struct json *j)
{
    struct corpus_vector *grown = realloc(c->vectors, (c->count + 1) * sizeof *grown), *v;
    char key[64], shown[SHOWN];

    if (!grown)
        return say(c->error, sizeof c->error, "not enough memory for the index");
    c->vectors = grown;
    v = &c->vectors[c->count];
    *v = (struct corpus_vector){ 0 };
    json_enter(j, '{');
    while (json_key(j, key, sizeof key)) {
        if (!strcmp(key, "name"))
            json_text(j, v->name, sizeof v->name);
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
        return NULL;    /* the caller tells the line */
    if (!good_name(v->name))
        return say(c->error, sizeof c->error, "line %zu: found the name '%s', wanted category/name",
                   json_line(j), show_name(shown, v->name, strlen(v->name)));
    if (!good_hash(v->sha256))
        return say(c->error, sizeof c->error, "line %zu: %s: no sha256 of 64 digits", json_line(j), v->name);
    c->count++;
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct corpus_vector *)a)->name, ((const struct corpus_vector *)b)->name);
}

/* The hash of the corpus is that of the lines "name sha256" in order. */
static int hash_agrees(const struct corpus *c)
{
    struct sha256 s;
    char hash[SHA256_HEX];

    sha256_start(&s);
    for (size_t k = 0; k < c->count; k++) {
        sha256_add(&s, c->vectors[k].name, strlen(c->vectors[k].name));
        sha256_add(&s, " ", 1);
        sha256_add(&s, c->vectors[k].sha256, SHA256_HEX - 1);
        sha256_add(&s, "\n", 1);
    }
    sha256_finish(&s, hash);
    return !strcmp(hash, c->hash);
}

static const char *read_index(struct corpus *c, const char *text, size_t length)
{
    struct json j;
    char key[64], format[16] = "";

    json_start(&j, text, length);
    json_enter(&j, '{');
    while (json_key(&j, key, sizeof key)) {
        if (!strcmp(key, "format")) {
            json_text(&j, format, sizeof format);
        } else if (!strcmp(key, "corpus_version")) {
            json_text(&j, c->version, sizeof c->version);
        } else if (!strcmp(key, "corpus_hash")) {
            json_text(&j, c->hash, sizeof c->hash);
        } else if (!strcmp(key, "vectors")) {
            json_enter(&j, '[');
            while (json_element(&j))
                if (read_entry(c, &j))
                    return c->error;
        } else {
            json_skip(&j);
        }
    }
    make_plain(c->version);
    if (!json_end(&j))
        return say(c->error, sizeof c->error, "line %zu: not the JSON of an index of vectors", json_line(&j));
    if (strcmp(format, "1") != 0)
        return say(c->error, sizeof c->error, "found format %s, wanted 1", format[0] ? format : "none");
    if (!c->version[0] || !good_hash(c->hash))
        return say(c->error, sizeof c->error, "has no corpus_version or no corpus_hash");
    if (!c->count)
        return say(c->error, sizeof c->error, "lists no vector");
    qsort(c->vectors, c->count, sizeof *c->vectors, by_name);
    for (size_t k = 1; k < c->count; k++)
        if (!strcmp(c->vectors[k - 1].name, c->vectors[k].name))
            return say(c->error, sizeof c->error, "lists %s twice", c->vectors[k].name);
    if (!hash_agrees(c))
        return say(c->error, sizeof c->error, "its corpus_hash is not that of the vectors it lists");
    return NULL;
}

const char *corpus_open(struct corpus *c, const char *dir)
{
    unsigned char *text = NULL;
    char *path, sentence[SENTENCE], shorter[SENTENCE + 256];
    size_t length;

    *c = (struct corpus){ .dir = dir ? strdup(dir) : place_vectors() };
    path = c->dir ? joined(c->dir, "index", ".json") : NULL;
    if (!path) {
        say(c->error, sizeof c->error, "vectors: not enough memory for the path");
    } else if (file_read(&text, &length, path, LARGEST_INDEX, sentence)) {
        say(c->error, sizeof c->error, "%s: %s; name the directory of the vectors with --vectors DIR or QKVEC_VECTORS",
            path, sentence);
    } else if (read_index(c, (const char *)text, length)) {
        say(shorter, sizeof shorter, "%s", c->error);
        say(c->error, sizeof c->error, "%.180s: %s", path, shorter);
    }
    free(text);
    free(path);
    if (!c->error[0])
        return NULL;
    char error[sizeof c->error];
    memcpy(error, c->error, sizeof error);
    corpus_close(c);
    memcpy(c->error, error, sizeof error);
    return c->error;
}

void corpus_close(struct corpus *c)
{
    free(c->dir);
    free(c->vectors);
    *c = (struct corpus){ 0 };
}

const struct corpus_vector *corpus_find(const struct corpus *c, const char *name)
{
    struct corpus_vector wanted;

    if (!c->count || strlen(name) >= sizeof wanted.name)
        return NULL;
    memcpy(wanted.name, name, strlen(name) + 1);
    return bsearch(&wanted, c->vectors, c->count, sizeof wanted, by_name);
}

/* ---- what patterns name ---- */

static int matches(const char *pattern, const char *name)
{
    size_t category = strcspn(name, "/");

    return fnmatch(pattern, name, 0) == 0
        || (strlen(pattern) == category && !strncmp(pattern, name, category));
}

/* The vector of the corpus whose file has this path, by any of its spellings. */
static const struct corpus_vector *at_path(const struct corpus *c, const char *path)
{
    const struct corpus_vector *found = NULL;
    char *file = realpath(path, NULL), *dir = c->dir ? realpath(c->dir, NULL) : NULL;
    size_t length = dir ? strlen(dir) : 0;

    if (file && dir && !strncmp(file, dir, length) && file[length] == '/') {
        size_t end = strlen(file);
        if (end > length + 5 && !strcmp(file + end - 4, ".npz")) {
            file[end - 4] = 0;
            found = corpus_find(c, file + length + 1);
        }
    }
    free(file);
    free(dir);
    return found;
}

/* The sentence in error stays. */
static void empty(struct choice *choice)
{
    for (size_t k = 0; k < choice->count; k++) {
        free(choice->chosen[k].path);
        free(choice->chosen[k].name);
        free(choice->chosen[k].bytes);
    }
    free(choice->chosen);
    choice->chosen = NULL;
    choice->count = 0;
}

static const char *add(struct choice *choice, const struct corpus *c, const struct corpus_vector *v, const char *path)
{
    struct chosen *grown = realloc(choice->chosen, (choice->count + 1) * sizeof *grown), *one;

    if (!grown)
        return say(choice->error, sizeof choice->error, "%s: not enough memory", v ? v->name : path);
    choice->chosen = grown;
    one = &grown[choice->count];
    *one = (struct chosen){ .path = v ? joined(c->dir, v->name, ".npz") : strdup(path), .name = strdup(v ? v->name : path), .vector = v };
    choice->count++;    /* choice_free() takes what there is */
    if (!one->path || !one->name)
        return say(choice->error, sizeof choice->error, "%s: not enough memory", v ? v->name : path);
    return NULL;
}

static const char *add_published(struct choice *choice, const struct corpus *c, const struct corpus_vector *v)
{
    char hash[SHA256_HEX], error[SENTENCE];
    const char *wrong = add(choice, c, v, NULL);
    unsigned char *bytes;
    size_t length;

    if (wrong)
        return wrong;
    struct chosen *one = &choice->chosen[choice->count - 1];
    if ((wrong = file_read(&bytes, &length, one->path, NPZ_FILE_BYTES, error)))
        return say(choice->error, sizeof choice->error, "%s: %s", one->path, wrong);
    sha256_of(hash, bytes, length);
    if (strcmp(hash, v->sha256) != 0)
        wrong = say(choice->error, sizeof choice->error,
                    "%s: this is not the published vector: found sha256 %s, the index says %s", one->path, hash, v->sha256);
    if (wrong || length > CORPUS_KEEPS - choice->kept) {
        free(bytes);
        return wrong;
    }
    one->bytes = bytes;
    one->length = length;
    choice->kept += length;
    return NULL;
}

const char *corpus_choose(struct choice *choice, const struct corpus *c, size_t patterns, const char *const *pattern)
{
    unsigned char *named = calloc(c->count + 1, 1), *outside = calloc(patterns + 1, 1);
    const char *wrong = NULL;
    char shown[SHOWN];

    *choice = (struct choice){ 0 };
    if (!named || !outside)
        wrong = say(choice->error, sizeof choice->error, "vectors: not enough memory");
    for (size_t k = 0; k < c->count && !wrong && !patterns; k++)
        named[k] = 1;
    for (size_t i = 0; i < patterns && !wrong; i++) {
        const struct corpus_vector *v;
        struct stat st;
        size_t found = 0;
        for (size_t k = 0; k < c->count; k++)
            if (matches(pattern[i], c->vectors[k].name))
                named[k] = 1, found++;
        if (found)
            continue;
        if ((v = at_path(c, pattern[i])))
            named[v - c->vectors] = 1;
        else if (stat(pattern[i], &st) == 0)
            outside[i] = 1;
        else
            wrong = say(choice->error, sizeof choice->error, "%s: %s", show_name(shown, pattern[i], strlen(pattern[i])),
                        c->count ? "no vector of that name, and no file" : "no such file");
    }
    for (size_t k = 0; k < c->count && !wrong; k++)
        if (named[k])
            wrong = add_published(choice, c, &c->vectors[k]);
    for (size_t i = 0; i < patterns && !wrong; i++)
        if (outside[i])
            wrong = add(choice, c, NULL, pattern[i]);
    free(named);
    free(outside);
    if (wrong)
        empty(choice);
    return wrong;
}

void choice_free(struct choice *choice)
{
    empty(choice);
    *choice = (struct choice){ 0 };
}
