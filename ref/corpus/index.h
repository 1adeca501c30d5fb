/* SPDX-License-Identifier: MIT */
/* Parse index.json; used by corpus.c alone. */
#ifndef QKVEC_INDEX_H
#define QKVEC_INDEX_H

#include "corpus.h"

/* Fill vectors, versions, version and hash of c from the JSON text of an index,
 * with the newest version in use, and check every version's hash. NULL, or an
 * error message (the text is c->error; c owns what was read so far). */
const char *index_parse(struct corpus *c, const char *text, size_t length);

/* The position of a version in c->versions, or c->version_count if it is unknown. */
size_t index_version(const struct corpus *c, const char *version);

/* Sort count vectors by name. */
void index_sort(struct corpus_vector *vectors, size_t count);

#endif
