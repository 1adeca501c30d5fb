/* SPDX-License-Identifier: MIT */
/* Sentences about what is wrong, and text from a file that is safe to print. */
#ifndef QKVEC_TEXT_H
#define QKVEC_TEXT_H

#include <stddef.h>

#ifdef __GNUC__
#define QKVEC_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define QKVEC_PRINTF(at, first)
#endif

/* The room for one sentence of the readers of this directory. */
#define SENTENCE 320

/* Write a sentence into error; returns error, so that a reader can leave by it. */
const char *say(char *error, size_t size, const char *format, ...) QKVEC_PRINTF(3, 4);

/* A name from a file as it may be shown: bytes that are not printable ASCII
 * become \xNN, and a long name ends in "...". Returns text. */
#define SHOWN 96
const char *show_name(char text[SHOWN], const void *bytes, size_t length);

/* "(3, 4)", as numpy prints a shape, into text of size. Returns text. */
const char *shape_text(char *text, size_t size, int ndim, const size_t *shape);

/* Where text stops being UTF-8 without control characters (newline and tab
 * are none); length where it never does. */
size_t text_good(const unsigned char *bytes, size_t length);

#endif
