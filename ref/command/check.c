/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../judge/quote.h"
#include "../judge/report.h"
#include "command.h"
#include "results.h"

static const char help[] =
    "usage: qkvec check [OPTION...] [PATTERN...]\n\n"
    "Judge results against the vectors that a pattern names (all without one).\n"
    "Without --results it judges the reference interpreter itself.\n\n"
    "  --results DIR      judge DIR/<category>/<name>.npz, one file for each vector, made by\n"
    "                     anything: members named as the stages, <f2 <f4 or <f8, of which\n"
    "                     only output must be there; a missing file is a failure\n"
    "  --allow-missing    a missing file is skipped\n"
    "  --profile P        float64, float32, tf32, float16 or bfloat16: the precision to\n"
    "                     judge by (default float32; float64 for the reference)\n"
    "  --format F         text, tap, junit or json (default text)\n"
    "  --vectors DIR      where the vectors are\n\n"
    "A pattern is category/name, a category, a glob over names, or the path of a file.\n\n"
    "  qkvec check\n"
    "  qkvec check --results out\n"
    "  qkvec check --results out --allow-missing --profile bfloat16 core 'mask/*'\n"
    "  qkvec check --results out --format junit > report.xml\n\n"
    "Exit status: 0 conformant, 1 not conformant, 2 could not judge: usage, a vector\n"
    "that cannot be read or was altered, nothing judged.\n";

struct settings {
    const char *dir, *results, *profile_name, *format_name;
    int allow_missing;
    const struct profile *profile;
    enum report_format format;
    char rerun[2048];
};

/* ---- what was asked for ---- */

static void add_word(struct settings *s, const char *option, const char *word)
{
    size_t used = strlen(s->rerun);

    used += (size_t)snprintf(s->rerun + used, sizeof s->rerun - used, " %s", option);
    if (word && used + 1 < sizeof s->rerun) {
        s->rerun[used++] = ' ';
        quote_shell(s->rerun + used, sizeof s->rerun - used, word);
    }
}

static int complete(struct settings *s)
{
    int k = 0;

    if (s->allow_missing && !s->results)
        return complain("--allow-missing", "says something about --results DIR, which is not there");
    if (!s->profile_name)
        s->profile_name = s->results ? "float32" : "float64";
    if (!(s->profile = profile_named(s->profile_name)))
        return complain(s->profile_name, "no such profile; wanted float64, float32, tf32, float16 or bfloat16");
    while (k < REPORT_FORMATS && strcmp(s->format_name, report_formats[k]) != 0)
        k++;
    if (k == REPORT_FORMATS)
        return complain(s->format_name, "no such format; wanted text, tap, junit or json");
    s->format = (enum report_format)k;

    snprintf(s->rerun, sizeof s->rerun, "qkvec check");
    if (s->dir)
        add_word(s, "--vectors", s->dir);
    if (s->results)
        add_word(s, "--results", s->results);
    if (s->allow_missing)
        add_word(s, "--allow-missing", NULL);
    add_word(s, "--profile", s->profile->name);
    return 0;
}

/* ---- the judging ---- */

static void progress(size_t done, size_t count, const char *name)
{
    if (!terminal(1))
        return;
    if (done < count)
        fprintf(stderr, "\r\033[K%zu of %zu %.60s", done + 1, count, name);
    else
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* What the judging leaves behind, vector by vector. */
struct findings { struct verdict *verdicts; struct evidence *evidence; };

static int judge_all(struct findings *found, struct door *door, const struct choice *choice, const struct settings *s)
{
    for (size_t k = 0; k < choice->count; k++) {
        const struct chosen *one = &choice->chosen[k];
        char error[600];
        progress(k, choice->count, one->name);
        found->evidence[k] = (struct evidence){ .path = one->path, .name = one->name, .verdict = &found->verdicts[k] };
        if (judge_file(&found->verdicts[k], found->evidence[k].got, door, one->path, one->name, s->profile, error)) {
            progress(choice->count, choice->count, "");
            return complain(one->path, "%s", error);    /* a report without it would claim too much */
        }
    }
    progress(choice->count, choice->count, "");
    return 0;
}

static int check(const struct settings *s, const struct wanted *w)
{
    struct door_results where = { .dir = s->results, .allow_missing = s->allow_missing };
    struct door door = s->results ? door_results(&where) : door_reference();
    size_t count = w->choice.count, room = count ? count : 1;
    struct findings found = { calloc(room, sizeof *found.verdicts), calloc(room, sizeof *found.evidence) };
    struct diagnosis diagnosis;
    const char *error;
    int status;

    if (!found.verdicts || !found.evidence) {
        status = complain("check", "not enough memory for %zu verdicts", count);
    } else if (!(status = judge_all(&found, &door, &w->choice, s))) {
        if ((error = diagnose(&diagnosis, found.evidence, count, s->profile)))
            complain("check", "no diagnosis: %s", error);
        struct report report = {
            .kernel = door.name, .profile = s->profile, .count = count, .verdicts = found.verdicts,
            .diagnosis = error ? NULL : &diagnosis,
            .rerun = s->rerun, .color = s->format == REPORT_TEXT && terminal_colors(),
        };
        if (w->choice.count && w->choice.chosen[0].vector) {    /* those of the corpus come first */
            report.corpus_version = w->corpus.version;
            report.corpus_hash = w->corpus.hash;
        }
        report_write(stdout, &report, s->format);
        status = report_status(&report);
        if (status == NOT_JUDGED)
            complain("check", "nothing was judged");
    }
    for (size_t k = 0; found.evidence && k < count; k++)
        mha_free(found.evidence[k].got);
    free(found.verdicts);
    free(found.evidence);
    return status;
}

int command_check(int argc, char **argv)
{
    struct settings s = { .format_name = "text" };
    int words, status;
    const struct option options[] = {
        { "--results", &s.results, NULL }, { "--profile", &s.profile_name, NULL }, { "--format", &s.format_name, NULL },
        { "--vectors", &s.dir, NULL }, { "--allow-missing", NULL, &s.allow_missing }, { NULL, NULL, NULL },
    };
    struct wanted w;

    if (options_read(&words, &status, argc, argv, options, help) || (status = complete(&s)))
        return status;
    if ((status = wanted_open(&w, s.dir, words, argv)))
        return status;
    if (s.results)
        status = results_name_strangers(s.results, &w);
    if (!status)
        status = check(&s, &w);
    wanted_close(&w);
    return status;
}
