/* SPDX-License-Identifier: MIT */
/*
 * The vectors that patterns name.
 *
 * POSIX: real paths and fnmatch. Letters: k vector, i pattern.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include "corpus.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../store/file.h"
#include "../store/grow.h"
#include "../store/npz.h"
#include "../store/text.h"

#define WRONG(choice, ...) say((choice)->error, sizeof (choice)->error, __VA_ARGS__)

/* ---- one pattern ---- */

static int matches(const char *pattern, const char *name)
{
    size_t category = strcspn(name, "/");

    return fnmatch(pattern, name, 0) == 0
        || (strlen(pattern) == category && !strncmp(pattern, name, category));
}

/* "DIR/category/name.npz", however spelt: its category/name, to free. NULL if
 * there is no such file in the directory of the corpus. */
static char *name_of(const struct corpus *c, const char *path)
{
    char *file = realpath(path, NULL), *dir = c->dir ? realpath(c->dir, NULL) : NULL, *name = NULL;
    size_t length = dir ? strlen(dir) : 0, end = file ? strlen(file) : 0;

    if (file && dir && !strncmp(file, dir, length) && file[length] == '/' && end > length + 5 && !strcmp(file + end - 4, ".npz")) {
        file[end - 4] = 0;
        name = strdup(file + length + 1);
    }
    free(file);
    free(dir);
    return name;
}

/* Mark the vectors in use that the pattern matches, or whose file it is.
 * Returns how many. later: set to a vector of a later version that it also names. */
static size_t mark(unsigned char *marked, const struct corpus_vector **later, const struct corpus *c, const char *pattern)
{
    char *name = name_of(c, pattern);
    size_t found = 0;

    for (size_t k = 0; k < c->count + c->newer; k++) {
        const struct corpus_vector *v = &c->vectors[k];
        if (!matches(pattern, v->name) && !(name && !strcmp(name, v->name)))
            continue;
        if (k < c->count)
            marked[k] = 1, found++;
        else
            *later = v;
    }
    free(name);
    return found;
}

/* ---- the choice ---- */

/* Free the vectors; the error message stays. */
static void empty(struct choice *choice)
{
    for (size_t k = 0; k < choice->count; k++) {
        free(choice->chosen[k].path);
        free(choice->chosen[k].name);
        free(choice->chosen[k].bytes);
    }
    free(choice->chosen);
    choice->chosen = NULL;
    choice->count = choice->room = 0;
}

/* dir/name.npz, to free; or NULL. */
static char *path_of(const struct corpus *c, const struct corpus_vector *v)
{
    size_t size = strlen(c->dir) + strlen(v->name) + sizeof "/.npz";
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s/%s.npz", c->dir, v->name);
    return path;
}

/* Append a vector of the corpus, or a file outside it if v is NULL. Takes path over. */
static const char *add(struct choice *choice, char *path, const char *name, const struct corpus_vector *v)
{
    struct chosen *grown = path ? grow(choice->chosen, &choice->room, choice->count, sizeof *grown) : NULL;

    if (!grown) {
        free(path);
        return WRONG(choice, "%s: not enough memory", name);
    }
    choice->chosen = grown;
    grown[choice->count] = (struct chosen){ .path = path, .name = strdup(name), .vector = v };
    return grown[choice->count++].name ? NULL : WRONG(choice, "%s: not enough memory", name);
}

/* Append a vector of the corpus after its file's hash has been checked. */
static const char *add_published(struct choice *choice, const struct corpus *c, const struct corpus_vector *v)
{
    char hash[SHA256_HEX], error[SENTENCE];
    const char *wrong = add(choice, path_of(c, v), v->name, v);
    unsigned char *bytes;
    size_t length;

    if (wrong)
        return wrong;
    struct chosen *one = &choice->chosen[choice->count - 1];
    if ((wrong = file_read(&bytes, &length, one->path, NPZ_FILE_BYTES, error)))
        return WRONG(choice, "%s: %s", one->path, wrong);
    sha256_of(hash, bytes, length);
    if (strcmp(hash, v->sha256) != 0)
        wrong = WRONG(choice, "%s: this is not the published vector: found sha256 %s, the index says %s", one->path, hash, v->sha256);
    if (wrong || length > CORPUS_KEEPS - choice->kept) {
        free(bytes);
        return wrong;
    }
    one->bytes = bytes;
    one->length = length;
    choice->kept += length;
    return NULL;
}

/* Mark the vectors and the files outside the corpus that the patterns name. */
static const char *mark_all(unsigned char *marked, unsigned char *outside, struct choice *choice, const struct corpus *c,
                            size_t patterns, const char *const *pattern)
{
    char shown[SHOWN];
    struct stat st;

    if (!patterns)
        memset(marked, 1, c->count);
    for (size_t i = 0; i < patterns; i++) {
        const struct corpus_vector *later = NULL;
        if (mark(marked, &later, c, pattern[i]))
            continue;
        show_name(shown, pattern[i], strlen(pattern[i]));
        if (later)
            return WRONG(choice, "%s: not in corpus %s; %s is there since %s", shown, c->version, later->name, later->since);
        if (stat(pattern[i], &st))
            return WRONG(choice, "%s: %s", shown, c->count ? "no vector of that name, and no file" : "no such file");
        outside[i] = 1;
    }
    return NULL;
}

static const char *add_all(struct choice *choice, const struct corpus *c, const unsigned char *marked, const unsigned char *outside,
                           size_t patterns, const char *const *pattern)
{
    const char *wrong = NULL;

    for (size_t k = 0; k < c->count && !wrong; k++)
        if (marked[k])
            wrong = add_published(choice, c, &c->vectors[k]);
    for (size_t i = 0; i < patterns && !wrong; i++)
        if (outside[i])
            wrong = add(choice, strdup(pattern[i]), pattern[i], NULL);
    return wrong;
}

const char *corpus_choose(struct choice *choice, const struct corpus *c, size_t patterns, const char *const *pattern)
{
    unsigned char *marked = calloc(c->count + 1, 1), *outside = calloc(patterns + 1, 1);
    const char *wrong;

    *choice = (struct choice){ 0 };
    if (!marked || !outside)
        wrong = WRONG(choice, "vectors: not enough memory");
    else if (!(wrong = mark_all(marked, outside, choice, c, patterns, pattern)))
        wrong = add_all(choice, c, marked, outside, patterns, pattern);
    if (wrong)
        empty(choice);
    free(marked);
    free(outside);
    return wrong;
}

void choice_free(struct choice *choice)
{
    empty(choice);
    *choice = (struct choice){ 0 };
}
