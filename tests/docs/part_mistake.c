/* SPDX-License-Identifier: MIT */
/*
 * Mistakes: their diff, their sentence, and the vector that catches each.
 *
 * Letters: v vector, f fault.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weave.h"

const char *weave_matrix(struct weave *w)
{
    const char *wrong;

    if (w->made)
        return NULL;
    if ((wrong = matrix_make(&w->matrix, w->vectors, &profiles[PROFILE_FLOAT32], 0)))
        return weave_error(w, "%s", wrong);
    w->made = 1;
    return NULL;
}

/* The vector says that it is there for this mistake. */
static int made_for(const struct chosen *c, const char *name)
{
    const char *words = c->vector ? c->vector->catches : "";
    size_t length = strlen(name);

    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        if (strcspn(words, " ") == length && !memcmp(words, name, length))
            return 1;
    return 0;
}

/* A weight that must be exactly 0 and is not is off by 1e30 sigma and more:
 * true, and hard to read. A vector with another error goes before it. */
#define PLAIN 1e13

static const char *find_killer(struct weave *w, const struct fault *f, struct killer *k)
{
    const char *wrong = weave_matrix(w);
    size_t which = (size_t)(f - faults);
    int rank = -1;

    if (wrong)
        return wrong;
    *k = (struct killer){ .vectors = w->matrix.vectors };
    for (size_t v = 0; v < k->vectors; v++) {
        const struct cell *c = matrix_cell(&w->matrix, v, which);
        const struct chosen *chosen = &w->matrix.choice.chosen[v];
        int here = 4 * (c->error < PLAIN) + 2 * made_for(chosen, f->name) + !strncmp(chosen->name, "core/", 5);
        k->count += (size_t)(c->killed != 0);
        if (!c->killed || here < rank || (here == rank && !(c->error > k->error)))
            continue;
        rank = here;
        snprintf(k->name, sizeof k->name, "%s", chosen->name);
        k->error = c->error;
    }
    return k->name[0] ? NULL : weave_error(w, "no vector catches %s", f->name);
}

/* All of them, a line each; QKVEC_KILLERS names such a file, so that pages do
 * not judge every vector each for itself. */
const char *weave_killers(struct weave *w, const char *path)
{
    FILE *list = fopen(path, "wb");
    const char *wrong = list ? NULL : "cannot be written";

    for (size_t f = 0; !wrong && f < fault_count; f++) {
        struct killer k;
        if (find_killer(w, &faults[f], &k))
            continue;    /* a page that names it says so */
        if (fprintf(list, "%s %s %.17g %zu %zu\n", faults[f].name, k.name, k.error, k.count, k.vectors) < 0)
            wrong = "cannot be written";
    }
    if (list && fclose(list))
        wrong = "cannot be written";
    return wrong;
}

const char *weave_killer(struct weave *w, const struct fault *f, struct killer *k)
{
    const char *path = getenv("QKVEC_KILLERS");
    FILE *list = path ? fopen(path, "rb") : NULL;
    char name[128];
    int found = 0;

    if (!path)
        return find_killer(w, f, k);
    while (list && !found && fscanf(list, "%127s %127s %lf %zu %zu", name, k->name, &k->error, &k->count, &k->vectors) == 5)
        found = !strcmp(name, f->name);
    if (list)
        fclose(list);
    return found ? NULL : weave_error(w, "%s has no \"%s\"", path, f->name);
}

void weave_sigma(FILE *f, double error)
{
    if (error < 1000)
        fprintf(f, "%.0f sigma", error);
    else
        fprintf(f, "%.1e sigma", error);
}

static const struct fault *named(struct weave *w, const char *name, const char **wrong)
{
    const struct fault *f = fault_named(name);

    *wrong = f ? NULL : weave_error(w, "faults.txt has no \"%s\"", name);
    return f;
}

/* What a mistake is, in the language of the page: Chinese comes from
 * mistakes.zh.txt, "name: sentence" a line. NULL, or a sentence. */
const char *weave_why(struct weave *w, const struct fault *f, int chinese, char *text, size_t size)
{
    char path[8192], line[1024];
    size_t length = strlen(f->name);
    FILE *list;
    int found = !chinese;

    snprintf(text, size, "%s", f->why);
    if (!chinese)
        return NULL;
    snprintf(path, sizeof path, "%s/tests/docs/mistakes.zh.txt", w->source);
    if (!(list = fopen(path, "rb")))
        return weave_error(w, "%s: cannot be read", path);
    while (!found && fgets(line, sizeof line, list))
        if (!strncmp(line, f->name, length) && line[length] == ':') {
            line[strcspn(line, "\n")] = 0;
            snprintf(text, size, "%s", line + length + 2);
            found = 1;
        }
    fclose(list);
    return found ? NULL : weave_error(w, "mistakes.zh.txt has no \"%s\"", f->name);
}

/* As Markdown: an asterisk is no emphasis, a bar no column. */
static void put_prose(FILE *f, const char *text)
{
    for (; *text; text++)
        fprintf(f, strchr("*|<", *text) ? "\\%c" : "%c", *text);
}

/* ---- one ---- */

static void print_diff(struct weave *w, const struct fault *f)
{
    size_t length = strlen(f->diff);

    fprintf(w->out, "```diff\n%s%s```\n", f->diff, length && f->diff[length - 1] == '\n' ? "" : "\n");
}

static const char *print_killer(struct weave *w, const struct fault *f)
{
    struct killer k;
    const char *wrong = weave_killer(w, f, &k);

    if (wrong)
        return wrong;
    fprintf(w->out, w->chinese ? "`%s` 抓住它：" : "Caught by `%s`: ", k.name);
    if (isinf(k.error))
        fputs(w->chinese ? "该是数的地方成了 NaN 或无穷，或者相反" : "NaN or infinity where there should be a number, or the other way round", w->out);
    else {
        fputs(w->chinese ? "最差的数偏离 " : "the worst number is off by ", w->out);
        weave_sigma(w->out, k.error);
        fprintf(w->out, w->chinese ? "（允许 %g）" : " (%g are allowed)", ENVELOPE_SIGMAS);
    }
    fprintf(w->out, w->chinese ? "。%zu 个向量中有 %zu 个拒绝它。\n" : ". Of %zu vectors %zu reject it.\n", k.vectors, k.count);
    return NULL;
}

const char *part_diff(struct weave *w, char *args)
{
    const char *wrong;
    const struct fault *f = named(w, args, &wrong);

    if (f)
        print_diff(w, f);
    return wrong;
}

const char *part_why(struct weave *w, char *args)
{
    const char *wrong;
    const struct fault *f = named(w, args, &wrong);
    char why[1024];

    if (f && !(wrong = weave_why(w, f, w->chinese, why, sizeof why))) {
        put_prose(w->out, why);
        fputs(w->chinese ? "。\n" : ".\n", w->out);
    }
    return wrong;
}

const char *part_killer(struct weave *w, char *args)
{
    const char *wrong;
    const struct fault *f = named(w, args, &wrong);

    return f ? print_killer(w, f) : wrong;
}

const char *part_mistake(struct weave *w, char *args)
{
    const char *wrong;
    const struct fault *f = named(w, args, &wrong);
    char why[1024];

    if (!f || (wrong = weave_why(w, f, w->chinese, why, sizeof why)))
        return wrong;
    fprintf(w->out, w->chinese ? "**`%s`**：" : "**`%s`**: ", f->name);
    put_prose(w->out, why);
    fputs(w->chinese ? "。\n\n" : ".\n\n", w->out);
    print_diff(w, f);
    fputs("\n", w->out);
    return print_killer(w, f);
}

/* ---- several ---- */

const char *part_mistakes(struct weave *w, char *args)
{
    const char *wrong = NULL;
    char *word;

    fputs(w->chinese ? "| 错误 | 它做了什么 | 抓住它的向量 | 偏离 |\n|---|---|---|---|\n"
                     : "| mistake | what it does | caught by | off by |\n|---|---|---|---|\n", w->out);
    while (!wrong && (word = weave_word(&args))) {
        const struct fault *f = named(w, word, &wrong);
        struct killer k;
        char why[1024];
        if (!f || (wrong = weave_killer(w, f, &k)) || (wrong = weave_why(w, f, w->chinese, why, sizeof why)))
            break;
        fprintf(w->out, "| [`%s`](faults.md#%s) | ", f->name, f->name);
        put_prose(w->out, why);
        fprintf(w->out, " | `%s` | ", k.name);
        if (isinf(k.error))
            fputs(w->chinese ? "NaN 或无穷" : "NaN or infinity", w->out);
        else
            weave_sigma(w->out, k.error);
        fputs(" |\n", w->out);
    }
    return wrong;
}
