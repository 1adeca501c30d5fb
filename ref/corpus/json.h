/* SPDX-License-Identifier: MIT */
/*
 * Walk through a JSON text: no tree, no allocation. The caller enters what it
 * expects, takes the keys that it knows and skips the others; after the first
 * mistake every call returns 0 and json_line() tells where it was.
 */
#ifndef QKVEC_JSON_H
#define QKVEC_JSON_H

#include <stddef.h>

struct json {
    const char *text, *at, *end;
    int failed;
    int fresh;    /* an object or array has just been entered: no comma yet */
};

void json_start(struct json *j, const char *text, size_t length);

/* Enter an object ('{') or an array ('['). */
int json_enter(struct json *j, char bracket);

/* The next key of the object; 0 at its end, which is then left. */
int json_key(struct json *j, char *key, size_t size);

/* Whether the array has another element; 0 at its end, which is then left. */
int json_element(struct json *j);

/* A string, without its escapes, or a number, true, false, null as spelt.
 * Text that does not fit into size is a mistake. */
int json_text(struct json *j, char *text, size_t size);

/* Any value. */
int json_skip(struct json *j);

/* Nothing but space is left. */
int json_end(struct json *j);

/* The line, from 1, of the first mistake or of the current place. */
size_t json_line(const struct json *j);

#endif
