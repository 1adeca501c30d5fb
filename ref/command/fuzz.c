/* SPDX-License-Identifier: MIT */
#include <errno.h>
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
    "diagnosed. Case number K is the same on every machine.\n\n"
    PLUG_HELP
    "  --seed K           the number of the first case (default: from the clock, and printed)\n"
    "  --count N          so many cases (default 10000)\n"
    "  --profile P        float64, float32, tf32, float16 or bfloat16 (default float32)\n"
    "  -o FILE            where the failing vector goes (default fuzz-K.npz)\n\n"
    "  qkvec fuzz --kernel ./libmine.so\n"
    "  qkvec fuzz --kernel ./libmine.so --seed 1 --count 100000 --profile bfloat16\n\n"
    "Exit status: 0 nothing found, 1 a failure was found, 2 could not judge; 130 after Ctrl-C.\n";

struct settings {
    const char *seed_text, *count_text, *profile_name, *out;
    struct plug plug;
    struct fuzz fuzz;
};

static int whole(uint64_t *n, const char *option, const char *text)
{
    char *end;

    errno = 0;
    *n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return complain(option, "%s is no whole number", text);
    return 0;
}

static int complete(struct settings *s)
{
    if (plug_check(&s->plug))
        return NOT_JUDGED;
    if (s->plug.results || !(s->plug.kernel || s->plug.command))
        return complain("fuzz", "wants --kernel LIB.so or --command CMD: something that runs");
    if (!(s->fuzz.profile = profile_named(s->profile_name)))
        return complain(s->profile_name, "no such profile; wanted float64, float32, tf32, float16 or bfloat16");
    s->fuzz.seed = (uint64_t)time(NULL) * 1000000;
    s->fuzz.count = 10000;
    if ((s->seed_text && whole(&s->fuzz.seed, "--seed", s->seed_text))
        || (s->count_text && whole(&s->fuzz.count, "--count", s->count_text)))
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

/* The failing case: where it is, what is wrong, how to see it again. */
static int tell_failure(struct settings *s)
{
    struct fuzz *f = &s->fuzz;
    char path[256], error[512], about[900];
    const char *wrong, *out = s->out;

    if (!out) {
        snprintf(path, sizeof path, "fuzz-%llu.npz", (unsigned long long)f->number);
        out = path;
    }
    snprintf(about, sizeof about, "case %llu of qkvec fuzz, made smaller; %s: %s%s%s", (unsigned long long)f->number,
             outcome_names[f->verdict.outcome], f->verdict.reason,
             f->diagnosis.count ? "; likely mistake: " : "", f->diagnosis.count ? f->diagnosis.mistake[0].name : "");
    if ((wrong = fuzz_write(out, &f->small, about, error)))
        return complain(out, "%s", wrong);
    snprintf(f->verdict.vector, sizeof f->verdict.vector, "%.127s", out);
    struct report report = {
        .kernel = s->plug.adapters[0].name, .profile = f->profile, .count = 1, .verdicts = &f->verdict,
        .diagnosis = &f->diagnosis, .rerun = "", .color = terminal_colors(),
    };
    report_failure(stdout, &report);
    printf("\nthe case: %zu numbers in %s\nagain: qkvec check", fuzz_size(&f->small), out);
    plug_tell(&s->plug, print_word, NULL);
    print_word(NULL, "--profile", f->profile->name);
    print_word(NULL, out, NULL);
    printf("\n");
    return NOT_CONFORMANT;
}

static int fuzz(struct settings *s)
{
    struct fuzz *f = &s->fuzz;
    int status = 0;

    f->adapter = &s->plug.adapters[0];
    f->stop = s->plug.host.stop;
    f->progress = progress;
    printf("seed %llu\n", (unsigned long long)f->seed);
    fflush(stdout);
    const char *error = fuzz_run(f);
    if (terminal(1))
        fputs("\r\033[K", stderr);
    printf("%llu cases: %llu passed, %llu skipped\n", (unsigned long long)f->done,
           (unsigned long long)f->passed, (unsigned long long)f->skipped);
    if (error)
        status = complain("fuzz", "%s", error);
    else if (f->failed)
        status = tell_failure(s);
    else if (f->stop && *f->stop)
        status = 130;
    else if (!f->passed)
        status = complain("fuzz", "nothing was judged");
    npz_free(&f->small);
    return status;
}

int command_fuzz(int argc, char **argv)
{
    struct settings s = { .profile_name = "float32" };
    int words, status;
    const struct option options[] = {
        PLUG_OPTIONS(&s.plug), { "--seed", &s.seed_text, NULL }, { "--count", &s.count_text, NULL },
        { "--profile", &s.profile_name, NULL }, { "-o", &s.out, NULL }, { NULL, NULL, NULL },
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
