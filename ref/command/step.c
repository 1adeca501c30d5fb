/* SPDX-License-Identifier: MIT */
/* POSIX: whether the keyboard is a terminal. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "step.h"

static const char help[] =
    "usage: qkvec step [OPTION...] VECTOR [STAGE [INDEX]]\n\n"
    "Walk the stages one by one: what PyTorch writes there, the array, and how one element\n"
    "comes from the stage before. STAGE is a name or a number, INDEX an element as 0,1,0,2.\n"
    "In a terminal:\n\n"
    "  Enter, space     the next stage                b    the one before\n"
    "  number, Enter    the stage of that number      q    quit\n"
    "  arrows           another element; page up and down the next block\n\n"
    "In a pipe all stages, or the one that is named, are printed one after another.\n"
    "NO_COLOR in the environment: shades of letters instead of colours.\n\n"
    "  --all            print, in a terminal too\n"
    "  --vectors DIR    where the vectors are\n\n"
    "  qkvec step core/printable\n"
    "  qkvec step core/printable scores 0,1,0,2 | cat\n";

static int stage_named(struct walk *w, const char *word)
{
    char *end;
    unsigned long place = strtoul(word, &end, 10);

    w->stage = *word && !*end ? walk_at(w, place) : STAGES;
    for (int k = 0; k < STAGES && w->stage == STAGES; k++)
        if (w->t[k].v && !strcmp(w->t[k].name, word))
            w->stage = (enum mha_stage)k;
    return w->stage == STAGES ? complain(word, "no stage of %s, which has %zu; qkvec step %s | cat shows them", w->v->name, walk_count(w), w->v->name) : 0;
}

static int index_named(struct walk *w, const char *word)
{
    const struct array *a = &w->t[w->stage];
    const char *at = word + (*word == '[');
    int d = 0;

    for (; d < a->ndim && *at >= '0' && *at <= '9'; d++) {
        char *end;
        w->at[d] = strtoul(at, &end, 10);
        if (w->at[d] >= a->shape[d])
            break;
        at = end + (*end == ',' && d < a->ndim - 1);
    }
    return d == a->ndim && (!*at || !strcmp(at, "]")) ? 0 : complain(word, "no element of %s; wanted %d numbers below its shape", a->name, a->ndim);
}

static void print_all(struct walk *w)
{
    for (size_t place = 1; place <= walk_count(w); place++) {
        walk_go(w, walk_at(w, place));
        fputs(place > 1 ? "\n" : "", stdout);
        step_plain(w);
    }
}

/* A terminal that can place its cursor. */
static int interactive(void)
{
    const char *term = getenv("TERM");

    return terminal(0) && isatty(STDIN_FILENO) && term && strcmp(term, "dumb") != 0;
}

static int walk(struct walk *w, int words, char **word, int all)
{
    int status = 0;

    if (words > 1 && (status = stage_named(w, word[1])))
        return status;
    if (words > 2 && (status = index_named(w, word[2])))
        return status;
    if (!all && interactive())
        return step_screen(w);
    if (words > 1)
        step_plain(w);
    else
        print_all(w);
    return 0;
}

int command_step(int argc, char **argv)
{
    const char *dir = NULL, *wrong;
    int all = 0, words, status;
    const struct option options[] = { { "--vectors", &dir, NULL }, { "--all", NULL, &all }, { NULL, NULL, NULL } };
    struct vector v;
    struct walk w;

    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (words < 1 || words > 3)
        return complain("step", "name one vector; see qkvec step --help");
    if ((status = wanted_one(&v, dir, argv[0])))
        return status;
    if ((wrong = walk_open(&w, &v))) {
        vector_free(&v);
        return complain(argv[0], "%s", wrong);
    }
    status = walk(&w, words, argv, all);
    walk_close(&w);
    vector_free(&v);
    return status;
}
