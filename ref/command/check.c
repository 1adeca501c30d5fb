/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/judge_all.h"
#include "../report/quote.h"
#include "../report/report.h"
#include "command.h"
#include "plug.h"
#include "random.h"
#include "results.h"

static const char help[] =
    "usage: qkvec check [OPTION...] [PATTERN...]\n\n"
    "Judge a kernel by the vectors that a pattern names (all without one). One of\n"
    "--kernel, --command and --results says which; without any, the reference itself is\n"
    "judged.\n\n"
    PLUG_HELP
    "  --results DIR      judge DIR/<category>/<name>.npz, one file for each vector, made by\n"
    "                     anything: members named as the stages, <f2 <f4 or <f8, of which\n"
    "                     only output must be there; a missing file is a failure\n"
    "  --allow-missing    a missing file is skipped\n"
    "  --profile P        float64, float32, tf32, float16 or bfloat16: the precision to\n"
    "                     judge by (default float32; float64 for the reference)\n"
    "  --random N         judge N random cases after the vectors, of a fixed seed, until\n"
    "                     the first failure; 0 for none (default 1000 for --kernel, 100 for\n"
    "                     --command, none if a pattern names vectors)\n"
    "  --all              a line for each failure (default 10 in full, the others counted)\n"
    "  --format F         text, tap, junit or json (default text)\n"
    "  --vectors DIR      where the vectors are\n"
    "  --corpus V         judge by the vectors of this version of the corpus, as 1.0.0\n"
    "                     (default the newest)\n\n"
    "A pattern is category/name, a category, a glob over names, or the path of a file.\n\n"
    "  qkvec check --kernel ./libmine.so\n"
    "  qkvec check --kernel ./libflash.so --core --profile bfloat16 --jobs 4\n"
    "  qkvec check --command 'python3 mine.py' 'mask/*'\n"
    "  qkvec check --results out\n"
    "  qkvec check --results out --allow-missing --profile bfloat16 core 'mask/*'\n"
    "  qkvec check --results out --format junit > report.xml\n\n"
    "Exit status: 0 conformant, 1 not conformant, 2 could not judge: usage, a vector\n"
    "that cannot be read or was altered, a library that cannot be loaded, nothing\n"
    "judged; 130 after Ctrl-C, with a report of what had been judged.\n";

struct settings {
    const char *dir, *corpus, *profile_name, *format_name, *random_text;
    int all;
    char pattern[512];         /* the patterns, with blanks between them */
    char switches[512];        /* options that weaken the verdict */
    struct random_cases random;
    struct plug plug;
    const struct profile *profile;
    enum report_format format;
    char rerun[COMMAND_LINE];
};

/* ---- what was asked for ---- */

static void add_to(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
}

static int complete(struct settings *s, int words, char **word)
{
    const struct { int given; const char *option; } weak[] = {
        { s->plug.once, "--once" }, { s->plug.nondeterministic, "--nondeterministic" }, { s->plug.allow_missing, "--allow-missing" },
    };
    int k = 0;

    if (plug_check(&s->plug) || random_count(&s->random.asked, &s->plug, s->random_text, words > 0))
        return NOT_JUDGED;
    s->random.seed = RANDOM_SEED;
    for (size_t m = 0; m < sizeof weak / sizeof *weak; m++)
        if (weak[m].given)
            add_to(s->switches, sizeof s->switches, weak[m].option);
    if (s->plug.allow_text) {
        add_to(s->switches, sizeof s->switches, "--allow");
        add_to(s->switches, sizeof s->switches, s->plug.allow_text);
    }
    for (int m = 0; m < words; m++)
        add_to(s->pattern, sizeof s->pattern, word[m]);
    if (!s->profile_name)
        s->profile_name = s->plug.results || s->plug.kernel || s->plug.command ? "float32" : "float64";
    if (!(s->profile = profile_named(s->profile_name)))
        return complain(s->profile_name, "no such profile; wanted float64, float32, tf32, float16 or bfloat16");
    while (k < REPORT_FORMATS && strcmp(s->format_name, report_formats[k]) != 0)
        k++;
    if (k == REPORT_FORMATS)
        return complain(s->format_name, "no such format; wanted text, tap, junit or json");
    s->format = (enum report_format)k;

    snprintf(s->rerun, sizeof s->rerun, "qkvec check");
    if (s->dir)
        quote_add_word(s->rerun, "--vectors", s->dir);
    if (s->corpus)
        quote_add_word(s->rerun, "--corpus", s->corpus);
    plug_tell(&s->plug, quote_add_word, s->rerun);
    quote_add_word(s->rerun, "--profile", s->profile->name);
    return 0;
}

/* ---- the judging ---- */

#define INTERRUPTED 130    /* as the shell would say */

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

/* Fill run->verdicts and run->vectors; 0, INTERRUPTED or NOT_JUDGED. */
static int judge_all(struct host_run *run, const struct choice *choice)
{
    for (size_t k = 0; k < run->count; k++) {
        run->vectors[k].path = choice->chosen[k].path;
        run->vectors[k].name = choice->chosen[k].name;
        run->vectors[k].bytes = choice->chosen[k].bytes;
        run->vectors[k].length = choice->chosen[k].length;
    }
    const char *error = host_run(run);
    progress(run->count, run->count, "");
    if (error)
        return complain(run->vectors[run->unreadable].path, "%s", error);    /* a report without it would claim too much */
    if (run->stop && *run->stop) {
        size_t judged = host_run_compact(run);
        complain("check", "interrupted: %zu of %zu vectors were judged", judged, run->count);
        run->count = judged;
        return INTERRUPTED;
    }
    return 0;
}

/* After the vectors. Returns 0, INTERRUPTED or NOT_JUDGED. */
static int judge_random(struct settings *s, const struct host_run *run)
{
    char error[600];
    const char *wrong = NULL;

    if (!s->random.asked)
        return 0;
    verdicts_keep_to_one(run->verdicts, run->count, s->plug.allowed);
    s->random.allowed = s->plug.allowed & verdicts_common(run->verdicts, run->count);
    for (size_t k = 0; k < run->count && !s->random.not_run; k++)
        if (run->verdicts[k].outcome != OUTCOME_PASS && run->verdicts[k].outcome != OUTCOME_SKIP)
            s->random.not_run = "a vector did not pass";
    if (s->random.not_run)
        return 0;
    wrong = random_judge(&s->random, &s->plug, s->profile, error);
    if (wrong)
        return complain("check", "%s", wrong);
    if (run->stop && *run->stop) {
        complain("check", "interrupted: %llu of %llu random cases were judged", (unsigned long long)s->random.judged,
                 (unsigned long long)s->random.asked);
        return INTERRUPTED;
    }
    return 0;
}

static void complain_unjudged(const struct report *report)
{
    struct tally all;

    report_tally(&all, report, NULL);
    if (all.unjudged)
        complain("check", "could not judge %zu of %zu vectors", all.unjudged, all.vectors);
    else
        complain("check", all.passed ? "nothing was judged: no finite number was compared" : "nothing was judged");
}

static int report_all(const struct settings *s, const struct wanted *w, const struct host_run *run, int interrupted)
{
    struct diagnosis diagnosis;
    size_t combination = verdicts_keep_to_one(run->verdicts, run->count, s->plug.allowed);
    const char *error = diagnose(&diagnosis, run->vectors, run->count, s->profile);
    int status;

    if (error)
        complain("check", "no diagnosis: %s", error);
    struct report report = {
        .kernel = run->adapters[0].name, .scope = run->adapters[0].scope, .profile = s->profile,
        .count = run->count, .verdicts = run->verdicts, .combination = combination, .diagnosis = error ? NULL : &diagnosis,
        .pattern = s->pattern[0] ? s->pattern : NULL, .switches = s->switches, .interrupted = interrupted, .asked = w->choice.count,
        .random = s->plug.kernel || s->plug.command ? &s->random : NULL,
        .rerun = s->rerun, .all = s->all, .color = s->format == REPORT_TEXT && terminal_colors(),
    };
    if (w->choice.count && w->choice.chosen[0].vector) {    /* those of the corpus come first */
        report.corpus_version = w->corpus.version;
        report.corpus_hash = w->corpus.hash;
        report.corpus_vectors = w->corpus.count;
    }
    report_write(stdout, &report, s->format);
    status = report_status(&report);
    if (status == NOT_JUDGED && !interrupted)
        complain_unjudged(&report);
    return status;
}

static int check(struct settings *s, const struct wanted *w)
{
    size_t count = w->choice.count, room = count ? count : 1;
    struct host_run run = {
        .vectors = calloc(room, sizeof *run.vectors), .verdicts = calloc(room, sizeof *run.verdicts),
        .judged = calloc(room, 1), .count = count, .adapters = s->plug.adapters, .jobs = s->plug.jobs, .profile = s->profile,
        .twice = (s->plug.kernel || s->plug.command) && !s->plug.once, .nondeterministic = s->plug.nondeterministic,
        .stop = s->plug.host.stop, .progress = progress,
    };
    int status;

    if (!run.vectors || !run.verdicts || !run.judged) {
        status = complain("check", "not enough memory for %zu verdicts", count);
    } else {
        status = judge_all(&run, &w->choice);
        if (status == 0)
            status = judge_random(s, &run);
        if (status == 0)
            status = report_all(s, w, &run, 0);
        else if (status == INTERRUPTED)
            report_all(s, w, &run, 1);
    }
    for (size_t k = 0; run.vectors && k < run.count; k++)
        mha_free(run.vectors[k].got);
    free(run.vectors);
    free(run.verdicts);
    free(run.judged);
    return status;
}

int command_check(int argc, char **argv)
{
    struct settings s = { .format_name = "text" };
    int words, status;
    const struct option options[] = {
        PLUG_OPTIONS(&s.plug), { "--results", &s.plug.results, NULL }, { "--profile", &s.profile_name, NULL }, { "--format", &s.format_name, NULL },
        { "--random", &s.random_text, NULL }, { "--all", NULL, &s.all },
        { "--vectors", &s.dir, NULL }, { "--corpus", &s.corpus, NULL }, { "--allow-missing", NULL, &s.plug.allow_missing }, { NULL, NULL, NULL },
    };
    struct wanted w;

    if (options_read(&words, &status, argc, argv, options, help) || (status = complete(&s, words, argv)))
        return status;
    if ((status = wanted_open(&w, s.dir, s.corpus, words, argv)))
        return status;
    if (s.plug.results)
        status = results_name_strangers(s.plug.results, &w);
    if (!status && !(status = plug_open(&s.plug))) {
        status = check(&s, &w);
        plug_close(&s.plug);
    }
    wanted_close(&w);
    return status;
}
