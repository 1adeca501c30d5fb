/* SPDX-License-Identifier: MIT */
/*
 * Pages whose numbers, code and mistakes come from the program.
 *
 *   weave PAGE QKVEC SOURCE          writes the page anew
 *   weave --check PAGE QKVEC SOURCE  fails with page:line where it is stale
 *   weave --killers FILE SOURCE      which vector catches which mistake, for the others
 *
 * A directive is a line of its own, <!-- word: arguments -->; what it makes
 * stands below it, up to <!-- end -->. weave.h lists them.
 */
#include "weave.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *word; const char *(*make)(struct weave *w, char *args); } parts[] = {
    { "run", part_run }, { "code", part_code }, { "diff", part_diff }, { "why", part_why }, { "killer", part_killer },
    { "mistake", part_mistake }, { "mistakes", part_mistakes }, { "layout", part_layout }, { "what", part_what },
    { "stages", part_stages }, { "scale", part_scale },
};
#define PARTS (sizeof parts / sizeof *parts)

/* ---- pages ---- */

/* The whole file, with a 0 behind; NULL if it cannot be read. */
static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);

    while (f && text) {
        used += fread(text + used, 1, room - used - 1, f);
        if (used + 1 < room)
            break;
        text = realloc(text, room *= 2);
    }
    if (f)
        fclose(f);
    if (!f || !text) {
        free(text);
        return NULL;
    }
    text[used] = 0;
    return text;
}

/* "<!-- word: args -->" on a line: the word and its arguments, both copied. */
static int directive(const char *line, size_t length, char word[32], char args[1024])
{
    size_t n;

    if (length < 12 || memcmp(line, "<!-- ", 5) || memcmp(line + length - 4, " -->", 4))
        return 0;
    for (n = 0; n < 31 && islower((unsigned char)line[5 + n]); n++)
        word[n] = line[5 + n];
    word[n] = 0;
    if (!n || line[5 + n] != ':' || length - n > 1000)
        return 0;
    snprintf(args, 1024, "%.*s", (int)(length - n - 10), line + n + 6);
    return 1;
}

static const char *make(struct weave *w, const char *word, char *args)
{
    for (size_t k = 0; k < PARTS; k++)
        if (!strcmp(parts[k].word, word))
            return parts[k].make(w, args + strspn(args, " "));
    return weave_error(w, "there is no directive \"%s\"", word);
}

/* w->out becomes the page; *line is where an error is. */
static const char *weave(struct weave *w, const char *page, size_t *line)
{
    static const char end[] = "<!-- end -->\n";
    char word[32], args[1024];
    const char *wrong;

    for (*line = 1; *page; ++*line) {
        size_t length = strcspn(page, "\n");
        fprintf(w->out, "%.*s\n", (int)length, page);
        page += length + (page[length] == '\n');
        if (!directive(page - length - 1, length, word, args))
            continue;
        if ((wrong = make(w, word, args)))
            return wrong;
        while (*page && strncmp(page, end, sizeof end - 1)) {
            if (directive(page, strcspn(page, "\n"), word, args))
                return "the block before this line has no <!-- end -->";
            page += strcspn(page, "\n") + 1;
            ++*line;
        }
        if (!*page)
            return "a block has no <!-- end -->";
    }
    return NULL;
}

/* Words alike; small numbers, which are what the last bits of exp() leave and
 * vary from one C library to another, within a factor of eight. */
static int nearly(const char *is, const char *wanted)
{
    while (*is && *wanted && *is != '\n' && *wanted != '\n') {
        char *a, *b;
        double x = strtod(is, &a), y = strtod(wanted, &b);
        if (a != is && b != wanted && isdigit((unsigned char)*is)) {
            if (x != y && !(fmax(x, y) < 1e-12 && fmax(x, y) <= 8 * fmin(x, y)))
                return 0;
            is = a;
            wanted = b;
        } else if (*is++ != *wanted++)
            return 0;
    }
    return (*is == 0 || *is == '\n') && (*wanted == 0 || *wanted == '\n');
}

/* The first line that differs, or 0. */
static size_t stale(const char *is, const char *wanted)
{
    for (size_t line = 1; *is || *wanted; line++) {
        size_t n = strcspn(is, "\n"), m = strcspn(wanted, "\n");
        if ((n != m || memcmp(is, wanted, n)) && !nearly(is, wanted))
            return line;
        if (is[n] != wanted[m])
            return line;
        is += n + (is[n] == '\n');
        wanted += m + (wanted[m] == '\n');
    }
    return 0;
}

static int finish(struct weave *w, const char *path, const char *page, int check)
{
    size_t line = 0;
    char *made;
    FILE *f;

    rewind(w->out);
    made = calloc((size_t)1 << 22, 1);
    if (!made || fread(made, 1, ((size_t)1 << 22) - 1, w->out) == 0) {
        free(made);
        printf("%s: nothing was made\n", path);
        return 1;
    }
    if (check && (line = stale(page, made)))
        printf("%s:%zu: stale; the target docs makes it again\n", path, line);
    if (!check && (!(f = fopen(path, "wb")) || fputs(made, f) < 0 || fclose(f))) {
        printf("%s: cannot be written\n", path);
        line = 1;
    }
    free(made);
    return line != 0;
}

static int killers(const char *path, const char *source)
{
    struct weave w = { .source = source };
    const char *wrong;

    snprintf(w.vectors, sizeof w.vectors, "%s/vectors", source);
    if ((wrong = weave_killers(&w, path)))
        printf("%s: %s\n", path, wrong);
    if (w.made)
        matrix_free(&w.matrix);
    return wrong != NULL;
}

int main(int argc, char **argv)
{
    int check = argc > 1 && !strcmp(argv[1], "--check"), status = 1;
    char **a = argv + 1 + check, *page;
    struct weave w = { .qkvec = NULL };
    const char *wrong;
    size_t line;

    if (argc == 4 && !strcmp(argv[1], "--killers"))
        return killers(argv[2], argv[3]);
    if (argc - check != 4) {
        fputs("usage: weave [--check] PAGE QKVEC SOURCE, or weave --killers FILE SOURCE\n", stderr);
        return 2;
    }
    w.qkvec = a[1];
    w.source = a[2];
    w.chinese = strlen(a[0]) > 6 && !strcmp(a[0] + strlen(a[0]) - 6, ".zh.md");
    snprintf(w.vectors, sizeof w.vectors, "%s/vectors", a[2]);
    w.out = tmpfile();
    page = slurp(a[0]);
    if (!page || !w.out)
        printf("%s: cannot be read\n", a[0]);
    else if ((wrong = weave(&w, page, &line)))
        printf("%s:%zu: %s\n", a[0], line, wrong);
    else
        status = finish(&w, a[0], page, check);
    if (w.made)
        matrix_free(&w.matrix);
    if (w.out)
        fclose(w.out);
    free(page);
    return status;
}
