/* SPDX-License-Identifier: MIT */
#include "random.h"

#include <stdio.h>
#include <string.h>

#include "../fuzz/fuzz.h"
#include "../report/quote.h"

enum { OF_KERNEL = 1000, OF_COMMAND = 100 };    /* a command is slower */

int random_count(uint64_t *count, const struct plug *plug, const char *text, int patterns)
{
    *count = patterns ? 0 : plug->kernel ? OF_KERNEL : plug->command ? OF_COMMAND : 0;
    if (!text)
        return 0;
    if (option_whole(count, "--random", text))
        return NOT_JUDGED;
    return *count && !plug->kernel && !plug->command ? complain("--random", "requires --kernel LIB.so or --command CMD: something that runs") : 0;
}

static void set_rerun(struct random_cases *r, const struct plug *plug, const struct profile *p)
{
    char seed[32], number[32];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
    snprintf(number, sizeof number, "%llu", (unsigned long long)r->number);
    snprintf(r->rerun, sizeof r->rerun, "qkvec fuzz");
    plug_tell(plug, quote_add_word, r->rerun);
    quote_add_word(r->rerun, "--profile", p->name);
    quote_add_word(r->rerun, "--seed", seed);
    quote_add_word(r->rerun, "--first", number);
    quote_add_word(r->rerun, "--count", "1");
}

const char *random_judge(struct random_cases *random, const struct plug *plug, const struct profile *p, char error[600])
{
    struct fuzz fuzz = {
        .adapters = plug->adapters, .allowed = random->allowed, .jobs = plug->jobs, .profile = p, .stream.seed = random->seed, .count = random->asked,
        .stop = plug->host.stop, .find_only = 1,
    };
    const char *wrong = fuzz_run(&fuzz);

    random->judged = fuzz.done;
    random->passed = fuzz.passed;
    random->skipped = fuzz.skipped;
    if (wrong) {
        snprintf(error, 600, "random cases: %.580s", wrong);
        return error;
    }
    if (fuzz.failed) {
        random->failed = 1;
        random->number = fuzz.number;
        random->verdict = fuzz.verdict;
        snprintf(random->verdict.vector, sizeof random->verdict.vector, "random/%llu", (unsigned long long)fuzz.number);
        set_rerun(random, plug, p);
    }
    return NULL;
}
