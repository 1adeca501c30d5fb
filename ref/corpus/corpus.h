/* SPDX-License-Identifier: MIT */
/*
 * The published vectors: where they are, what their index says, and which of
 * them a pattern names.
 */
#ifndef QKVEC_CORPUS_H
#define QKVEC_CORPUS_H

#include "../store/sha256.h"

#define CORPUS_NAME 128
#define CORPUS_KEEPS ((size_t)32 << 20)

struct corpus_vector {
    char name[CORPUS_NAME];      /* "core/answer" */
    char flags[256];             /* what is special, in words with a space between */
    char catches[512];           /* the mistakes that it is there for, likewise */
    char kills_nothing_because[256];    /* why it is there all the same; "" where it catches something */
    char sha256[SHA256_HEX];     /* of its file */
};

struct corpus {
    char *dir;
    char version[64];            /* of the corpus */
    char hash[SHA256_HEX];       /* of all its vectors */
    size_t count;
    struct corpus_vector *vectors;    /* sorted by name */
    char error[768];
};

/* Read DIR/index.json; where dir is NULL, of the usual place (place.h). NULL, or
 * "PATH: sentence" (the text is c->error; c is then empty). */
const char *corpus_open(struct corpus *c, const char *dir);
void corpus_close(struct corpus *c);

/* By its name, or NULL. */
const struct corpus_vector *corpus_find(const struct corpus *c, const char *name);

/* A vector to work on. */
struct chosen {
    char *path;
    char *name;                       /* the path, where it is no vector of the corpus */
    const struct corpus_vector *vector;    /* NULL for a file outside */
    unsigned char *bytes;             /* of the file, which has the hash that was published; or NULL: read it again */
    size_t length;
};
struct choice {
    size_t count;
    size_t kept;                      /* bytes of all of them */
    struct chosen *chosen;            /* those of the corpus first, by name */
    char error[768];
};

/* What the patterns name: category/name, a category, a glob over names, or the
 * path of a file; none of them names all. An error if one names nothing.
 * c may be an empty corpus when only paths are wanted.
 * Each file of the corpus is compared with its published hash: what is chosen
 * is what was published. Its bytes are kept, up to CORPUS_KEEPS of all files. NULL, or a sentence that begins with what it is about. */
const char *corpus_choose(struct choice *choice, const struct corpus *c, size_t patterns, const char *const *pattern);
void choice_free(struct choice *choice);

#endif
