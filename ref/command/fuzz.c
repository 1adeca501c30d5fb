/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../fuzz/fuzz.h"
#include "../report/quote.h"
#include "../report/report.h"
#include "command.h"
#include "plug.h"

static const char help[] =
    "usage: qkvec fuzz (--kernel LIB.so | --command CMD) [OPTION...]\n\n"
    "Judge a kernel by random cases, with the reference and its envelope as the oracle.\n"
    "The first failure is made as small as it gets, written as a vector file, and\n"
    "diagnosed. The cases of a seed are the same on every machine and for any number\n"
    "of jobs; two seeds have no case in common.\n\n"
    PLUG_HELP
    "  --seed K           the seed (default: from the clock, and printed)\n"
    "  --first N          the number of the first case (default 0)\n"
    "  --count N          the number of cases (default 10000)\n"
    "  --small            only small sizes: at most 3 items, 4 heads, 36 channels of a head,\n"
    "                     35 queries and 69 keys; else one case in ten is larger\n"
    "  --finite           no NaN and no infinity in arguments\n"
    "  --profile P        float64, float32, tf32, float16 or bfloat16 (default float32)\n"
    "  --format F         text or json (default text)\n"
    "  -o FILE            write the failing case here (default fuzz-SEED-NUMBER.npz)\n\n"
    "  qkvec fuzz --kernel ./libmine.so\n"
    "  qkvec fuzz --kernel ./libmine.so --seed 1 --count 100000 --profile bfloat16 --jobs 4\n\n"
    "Exit status: 0 nothing found, 1 a failure was found, 2 could not judge; 130 after Ctrl-C.\n";

struct settings {
    const char *seed_text, *first_text, *count_text, *profile_name, *format, *out;
    int json;
    struct plug plug;
    struct fuzz fuzz;
};

static int complete(struct settings *s)
{
    if (plug_check(&s->plug))
        return NOT_JUDGED;
    if (s->plug.results || !(s->plug.kernel || s->plug.command))
        return complain("fuzz", "requires --kernel LIB.so or --command CMD");
    if (!(s->fuzz.profile = profile_named(s->profile_name)))
        return complain(s->profile_name, "no such profile; wanted float64, float32, tf32, float16 or bfloat16");
    s->json = !strcmp(s->format, "json");
    if (!s->json && strcmp(s->format, "text") != 0)
        return complain(s->format, "no such format; wanted text or json");
    s->fuzz.stream.seed = (uint64_t)time(NULL);
    s->fuzz.count = 10000;
    if ((s->seed_text && option_whole(&s->fuzz.stream.seed, "--seed", s->seed_text))
        || (s->first_text && option_whole(&s->fuzz.first, "--first", s->first_text))
        || (s->count_text && option_whole(&s->fuzz.count, "--count", s->count_text)))
        return NOT_JUDGED;
    return 0;
}

static void progress(const struct fuzz *fuzz)
{
    if (terminal(1))
        fprintf(stderr, "\r\033[K%llu of %llu cases", (unsigned long long)fuzz->done, (unsigned long long)fuzz->count);
}

static void print_word(void *context, const char *option, const char *word)
{
    char quoted[4096];

    (void)context;
    printf(" %s", option);
    if (word) {
        quote_shell(quoted, sizeof quoted, word);
        printf(" %s", quoted);
    }
}

/* Write the failing case to a file, of which the name is put into path. 0, or NOT_JUDGED after a complaint. */
static int write_failure(char path[512], struct settings *s)
{
    struct fuzz *f = &s->fuzz;
    char error[512], about[900];
    const char *wrong;

    if (s->out)
        snprintf(path, 512, "%s", s->out);
    else
        snprintf(path, 512, "fuzz-%llu-%llu.npz", (unsigned long long)f->stream.seed, (unsigned long long)f->number);
    snprintf(about, sizeof about, "case %llu of qkvec fuzz --seed %llu%s%s, made smaller; %s: %s%s%s", (unsigned long long)f->number,
             (unsigned long long)f->stream.seed, f->stream.small ? " --small" : "", f->stream.finite ? " --finite" : "", outcome_names[f->verdict.outcome], f->verdict.reason,
             f->diagnosis.count ? "; likely mistake: " : "", f->diagnosis.count ? f->diagnosis.mistake[0].name : "");
    if ((wrong = fuzz_write(path, &f->small, about, error)))
        return complain(path, "%s", wrong);
    snprintf(f->verdict.vector, sizeof f->verdict.vector, "%.127s", path);
    return 0;
}

/* What is wrong with the failing case, and how to see it again. */
static void print_failure(struct settings *s, const char *path)
{
    struct fuzz *f = &s->fuzz;
    struct report report = {
        .kernel = s->plug.adapters[0].name, .profile = f->profile, .count = 1, .verdicts = &f->verdict, .combination = f->verdict.combination,
        .diagnosis = &f->diagnosis, .rerun = "", .color = terminal_colors(),
    };

    report_failure(stdout, &report);
    printf("\ncase %llu, made smaller: %zu numbers in %s\nagain: qkvec check", (unsigned long long)f->number, fuzz_size(&f->small), path);
    plug_tell(&s->plug, print_word, NULL);
    print_word(NULL, "--profile", f->profile->name);
    print_word(NULL, path, NULL);
    printf("\n");
}

static void print_text(struct settings *s, const char *path)
{
    struct fuzz *f = &s->fuzz;

    printf("%llu cases: %llu passed, %llu skipped\n", (unsigned long long)f->done,
           (unsigned long long)f->passed, (unsigned long long)f->skipped);
    fuzz_write_kinds(stdout, f);
    if (path)
        print_failure(s, path);
}

static void print_json(struct settings *s, const char *path)
{
    const struct fuzz *f = &s->fuzz;

    printf("{\"seed\": %llu, \"first\": %llu, \"small\": %s, \"finite\": %s, \"profile\": \"%s\", \"cases\": %llu, \"passed\": %llu, \"skipped\": %llu,\n"
           " \"kinds\": ", (unsigned long long)f->stream.seed, (unsigned long long)f->first, f->stream.small ? "true" : "false",
           f->stream.finite ? "true" : "false", f->profile->name,
           (unsigned long long)f->done, (unsigned long long)f->passed, (unsigned long long)f->skipped);
    fuzz_write_kinds_json(stdout, f);
    printf(",\n \"failure\": ");
    if (path) {
        printf("{\"case\": %llu, \"outcome\": \"%s\", \"reason\": ", (unsigned long long)f->number, outcome_names[f->verdict.outcome]);
        quote_json(stdout, f->verdict.reason);
        printf(", \"numbers\": %zu, \"file\": ", fuzz_size(&f->small));
        quote_json(stdout, path);
        printf(", \"mistakes\": [");
        for (size_t k = 0; k < f->diagnosis.count; k++) {
            printf("%s", k ? ", " : "");
            quote_json(stdout, f->diagnosis.mistake[k].name);
        }
        printf("]}");
    } else {
        printf("null");
    }
    printf("}\n");
}

static int fuzz(struct settings *s)
{
    struct fuzz *f = &s->fuzz;
    char path[512];
    int status = 0;

    f->adapters = s->plug.adapters;
    f->jobs = s->plug.jobs;
    f->allowed = s->plug.allowed;
    f->stop = s->plug.host.stop;
    f->progress = progress;
    if (!s->json)
        printf("seed %llu\n", (unsigned long long)f->stream.seed);
    fflush(stdout);
    const char *error = fuzz_run(f);
    if (terminal(1))
        fputs("\r\033[K", stderr);
    if (!error && f->failed)
        status = write_failure(path, s);
    (s->json ? print_json : print_text)(s, !error && f->failed && !status ? path : NULL);
    if (error)
        status = complain("fuzz", "%s", error);
    else if (f->failed && !status)
        status = NOT_CONFORMANT;
    else if (!f->failed && f->stop && *f->stop)
        status = 130;
    else if (!f->failed && !f->finite)
        status = f->passed ? complain("fuzz", "nothing was judged: no finite number was compared")
                           : complain("fuzz", "no case was judged: all %llu were skipped", (unsigned long long)f->skipped);
    npz_free(&f->small);
    return status;
}

int command_fuzz(int argc, char **argv)
{
    struct settings s = { .profile_name = "float32", .format = "text" };
    int words, status;
    const struct option options[] = {
        PLUG_OPTIONS(&s.plug), { "--seed", &s.seed_text, NULL }, { "--first", &s.first_text, NULL }, { "--count", &s.count_text, NULL },
        { "--small", NULL, &s.fuzz.stream.small }, { "--finite", NULL, &s.fuzz.stream.finite },
        { "--profile", &s.profile_name, NULL }, { "--format", &s.format, NULL },
        { "-o", &s.out, NULL }, { NULL, NULL, NULL },
    };

    if (options_read(&words, &status, argc, argv, options, help) || (status = complete(&s)))
        return status;
    if (words)
        return complain(argv[0], "fuzz takes no vectors");
    if (!(status = plug_open(&s.plug))) {
        status = fuzz(&s);
        plug_close(&s.plug);
    }
    return status;
}
