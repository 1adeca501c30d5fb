/* SPDX-License-Identifier: MIT */
/* What the subcommands share. */
#ifndef QKVEC_COMMAND_H
#define QKVEC_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "../corpus/corpus.h"
#include "../report/status.h"
#include "../store/text.h"
#include "../corpus/vector.h"

/* Each gets the arguments after its own name. */
int command_check(int argc, char **argv);
int command_export(int argc, char **argv);
int command_fuzz(int argc, char **argv);
int command_list(int argc, char **argv);
int command_order(int argc, char **argv);
int command_run(int argc, char **argv);
int command_show(int argc, char **argv);
int command_split(int argc, char **argv);
int command_step(int argc, char **argv);

/* At the start of the program: memory is asked of the system in large pieces, and kept. */
void memory_keep(void);

/* "qkvec: SUBJECT: sentence" on standard error. Returns NOT_JUDGED. */
int complain(const char *subject, const char *format, ...) QKVEC_PRINTF(2, 3);

/* An option takes a value or is a flag. */
struct option {
    const char *name;      /* "--profile" or "-o" */
    const char **value;
    int *flag;
};

/* Sort options (up to one without a name) from words, which move to the front
 * of argv; "--name=value" and "--" are understood. Returns 0 to go on, 1 to
 * leave with *status: help has been printed, or a complaint. */
int options_read(int *words, int *status, int argc, char **argv, const struct option *options, const char *help);

/* A whole number, from the text of an option. Returns 0, or NOT_JUDGED after an error message. */
int option_whole(uint64_t *n, const char *option, const char *text);

/* The vectors that words name. */
struct wanted {
    struct corpus corpus;
    struct choice choice;
};

/* Choose them from the corpus in dir (NULL: the usual place), of that version
 * (NULL: the newest). Returns 0, or NOT_JUDGED after an error message; then
 * nothing is left to close. */
int wanted_open(struct wanted *w, const char *dir, const char *version, int words, char **word);
void wanted_close(struct wanted *w);

/* The one vector that word names, read. 0, or NOT_JUDGED after a complaint. */
int wanted_one(struct vector *v, const char *dir, const char *word);

/* Standard output or error is a terminal; and one that wants colours. */
int terminal(int error);
int terminal_colors(void);

#endif
