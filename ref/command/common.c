/* SPDX-License-Identifier: MIT */
/* POSIX: whether a stream is a terminal, whether a file is there. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

int complain(const char *subject, const char *format, ...)
{
    va_list list;
    char shown[4096];
    size_t k;

    /* A file's name may hold what a terminal would obey. */
    for (k = 0; subject[k] && k < sizeof shown - 1; k++)
        shown[k] = (unsigned char)subject[k] < 0x20 || subject[k] == 0x7f ? '?' : subject[k];
    shown[k] = 0;
    fflush(stdout);    /* in order, where both go to the same place */
    fprintf(stderr, "qkvec: %s: ", shown);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputs("\n", stderr);
    return NOT_JUDGED;
}

/* ---- options ---- */

static const struct option *find(const struct option *options, const char *word, size_t length)
{
    for (; options->name; options++)
        if (strlen(options->name) == length && !memcmp(options->name, word, length))
            return options;
    return NULL;
}

int options_read(int *words, int *status, int argc, char **argv, const struct option *options, const char *help)
{
    *words = 0;
    *status = NOT_JUDGED;
    for (int k = 0; k < argc; k++) {
        char *word = argv[k], *equals = word[0] == '-' && word[1] == '-' ? strchr(word, '=') : NULL;
        const struct option *o;
        if (word[0] != '-' || !word[1]) {
            argv[(*words)++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            while (++k < argc)
                argv[(*words)++] = argv[k];
            return 0;
        }
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            fputs(help, stdout);
            *status = 0;
            return 1;
        }
        if (!(o = find(options, word, equals ? (size_t)(equals - word) : strlen(word)))) {
            complain(word, "no such option; see --help");
            return 1;
        }
        if (o->flag && equals) {
            complain(o->name, "takes no value");
            return 1;
        }
        if (o->flag)
            *o->flag = 1;
        else if (equals)
            *o->value = equals + 1;
        else if (++k < argc)
            *o->value = argv[k];
        else {
            complain(o->name, "needs a value; see --help");
            return 1;
        }
    }
    return 0;
}

int option_whole(uint64_t *n, const char *option, const char *text)
{
    char *end;

    errno = 0;
    *n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return complain(option, "%s is no whole number; wanted 0 to 18446744073709551615", text);
    return 0;
}

/* ---- vectors ---- */

int wanted_open(struct wanted *w, const char *dir, const char *version, int words, char **word)
{
    const char *wrong;
    struct stat st;
    int outside = !dir && !version && words > 0;

    *w = (struct wanted){ 0 };
    for (int k = 0; k < words; k++)
        outside = outside && stat(word[k], &st) == 0;
    wrong = corpus_open(&w->corpus, dir);
    if (wrong && !outside) {    /* files by path need no corpus */
        fprintf(stderr, "qkvec: %s\n", wrong);
        return NOT_JUDGED;
    }
    wrong = version ? corpus_use_version(&w->corpus, version) : NULL;
    if (!wrong)
        wrong = corpus_choose(&w->choice, &w->corpus, (size_t)words, (const char *const *)word);
    if (wrong) {
        fprintf(stderr, "qkvec: %s\n", wrong);
        wanted_close(w);
        return NOT_JUDGED;
    }
    return 0;
}

void wanted_close(struct wanted *w)
{
    choice_free(&w->choice);
    corpus_close(&w->corpus);
}

int wanted_one(struct vector *v, const char *dir, const char *word)
{
    struct wanted w;
    char *words[1];
    const char *wrong = NULL;
    int status;

    words[0] = strdup(word);
    if (!words[0])
        return complain(word, "not enough memory");
    status = wanted_open(&w, dir, NULL, 1, words);
    free(words[0]);
    if (status)
        return status;
    if (w.choice.count != 1)
        status = complain(word, "names %zu vectors, wanted one", w.choice.count);
    else if ((wrong = vector_read_chosen(v, &w.choice.chosen[0])))
        status = complain(w.choice.chosen[0].path, "%s", wrong);
    wanted_close(&w);
    return status;
}

/* ---- the terminal ---- */

int terminal(int error)
{
    return isatty(error ? STDERR_FILENO : STDOUT_FILENO);
}

int terminal_colors(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return terminal(0) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
