/* SPDX-License-Identifier: MIT */
/*
 * The published test vectors: their directory, their index, the versions of
 * the corpus, and the vectors that a pattern names.
 */
#ifndef QKVEC_CORPUS_H
#define QKVEC_CORPUS_H

#include "../store/sha256.h"

#define CORPUS_NAME 128
#define CORPUS_VERSION 32
#define CORPUS_KEEPS ((size_t)32 << 20)

struct corpus_vector {
    char name[CORPUS_NAME];      /* "core/answer" */
    char since[CORPUS_VERSION];  /* the first version of the corpus that has it */
    char flags[256];             /* what is special, in words with a space between */
    char catches[512];           /* the mistakes that it is there for, likewise */
    char kills_nothing_because[256];    /* why it is there all the same; "" if it catches something */
    char sha256[SHA256_HEX];     /* of its file */
};

/* A version has the vectors of all versions before it. */
struct corpus_version {
    char name[CORPUS_VERSION];   /* "1.0.0" */
    char hash[SHA256_HEX];       /* of all its vectors */
};

struct corpus {
    char *dir;
    char version[CORPUS_VERSION];    /* in use: the newest, or the one that corpus_use_version() was given */
    char hash[SHA256_HEX];       /* of all vectors in use */
    size_t count;                /* vectors in use */
    size_t newer;                /* vectors of later versions, which follow those in use */
    struct corpus_vector *vectors;    /* count sorted by name, then newer sorted by name */
    size_t version_count;
    struct corpus_version *versions;    /* oldest first */
    size_t vector_room, version_room;   /* items that fit into the two arrays */
    char error[768];
};

/* Read DIR/index.json; if dir is NULL, that of the usual place (place.h). NULL,
 * or "PATH: error message" (the text is c->error; c is then empty). The newest
 * version is in use. */
const char *corpus_open(struct corpus *c, const char *dir);
void corpus_close(struct corpus *c);

/* NULL, or an error message that lists the known versions. */
const char *corpus_check_version(struct corpus *c, const char *version);

/* Use the vectors of this version alone; once after corpus_open(). NULL, or the
 * error message of corpus_check_version(). */
const char *corpus_use_version(struct corpus *c, const char *version);

/* Find a vector in use by its name. Returns NULL if there is none. */
const struct corpus_vector *corpus_find(const struct corpus *c, const char *name);

/* A vector to work on. */
struct chosen {
    char *path;
    char *name;                       /* of the vector; the path of a file outside the corpus */
    const struct corpus_vector *vector;    /* NULL for a file outside the corpus */
    unsigned char *bytes;             /* of the file, checked against the published hash; or NULL: read it again */
    size_t length;
};
struct choice {
    size_t count;
    size_t kept;                      /* bytes of all of them */
    struct chosen *chosen;            /* those of the corpus first, by name */
    size_t room;                      /* items that fit into it */
    char error[768];
};

/* Choose the vectors in use that the patterns name: category/name, a category, a
 * glob over names, or the path of a file; all of them if there is no pattern. A
 * pattern that names nothing is an error. c may be an empty corpus if only paths
 * are wanted. Each file of the corpus is compared with its published hash. Its
 * bytes are kept, up to CORPUS_KEEPS of all files. NULL, or an error message
 * that begins with the pattern or the path; free with choice_free(). */
const char *corpus_choose(struct choice *choice, const struct corpus *c, size_t patterns, const char *const *pattern);
void choice_free(struct choice *choice);

#endif
