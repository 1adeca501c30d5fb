/* SPDX-License-Identifier: MIT */
/* Text of any origin, written so that it cannot leave its place. Bytes that
 * are no text (broken UTF-8, control characters) come out as '?'. */
#ifndef QKVEC_QUOTE_H
#define QKVEC_QUOTE_H

#include <stdio.h>

void quote_plain(FILE *f, const char *text);    /* for a line of a report */
void quote_json(FILE *f, const char *text);     /* with its quotation marks; valid YAML too */
void quote_xml(FILE *f, const char *text);      /* for an attribute or for content */

/* A word for the shell, into text of size, in quotation marks where it needs
 * them. Returns the length that it has or would have, as snprintf does. */
size_t quote_shell(char *text, size_t size, const char *word);

/* Append " option word" to a command line, a char[COMMAND_LINE]; word NULL: the
 * option alone. What does not fit is cut. */
#define COMMAND_LINE 8192
void quote_add_word(void *line, const char *option, const char *word);

#endif
