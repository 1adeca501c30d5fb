/* SPDX-License-Identifier: MIT */
/* Which kernel a subcommand judges, and how it is run. */
#ifndef QKVEC_PLUG_H
#define QKVEC_PLUG_H

#include "../host/host.h"
#include "command.h"

/* As options set it: --kernel, --command, --results, --jobs, ... */
struct plug {
    const char *kernel, *command, *results;
    const char *jobs_text, *timeout_text, *memory_text, *allow_text;
    int core, allow_missing, nondeterministic, once;
    /* by plug_check: */
    size_t jobs;
    struct host host;
    uint64_t allowed;                  /* combinations of policies that are accepted */
    /* by plug_open: */
    struct adapter_results where;
    struct adapter *adapters;          /* jobs of them, to the same kernel */
};

/* For the table of options, and its part of --help. */
#define PLUG_OPTIONS(p) \
    { "--kernel", &(p)->kernel, NULL }, { "--command", &(p)->command, NULL }, \
    { "--jobs", &(p)->jobs_text, NULL }, { "--timeout", &(p)->timeout_text, NULL }, { "--memory", &(p)->memory_text, NULL }, \
    { "--allow", &(p)->allow_text, NULL }, { "--core", NULL, &(p)->core }, { "--nondeterministic", NULL, &(p)->nondeterministic }, { "--once", NULL, &(p)->once }
#define PLUG_HELP \
    "  --kernel LIB.so    a shared library that exports qkvec_kernel (see qkvec/kernel.h)\n" \
    "  --core             ... its qkvec_attention_core: from the heads to head_outputs\n" \
    "  --command CMD      a program, run by sh -c: for every line IN<TAB>OUT it reads the case\n" \
    "                     IN, writes its results to OUT and answers ok, skip REASON or fail REASON\n" \
    "  --jobs N           so many at the same time (default 1)\n" \
    "  --timeout S        seconds for a case (default 60)\n" \
    "  --memory M         MiB of address space for a library (default: no limit)\n" \
    "  --once             one run of every case; else two, which must give the same bits\n" \
    "  --allow NAME,...   accept these policies too: mean_rows (rows without an open key return\n" \
    "                     the mean of the values), scores_overflow (scores leave the range of\n" \
    "                     the type before they are scaled); docs/policies.md describes them\n" \
    "  --nondeterministic two runs that may differ, each of them judged\n"

/* Do the options make sense? 0, or NOT_JUDGED after a complaint. */
int plug_check(struct plug *plug);

/* 0, or NOT_JUDGED after a complaint: a library that cannot be loaded. From
 * here on Ctrl-C sets *plug->host.stop. */
int plug_open(struct plug *plug);
void plug_close(struct plug *plug);

/* Tell every option that was given, in the order of --help. */
void plug_tell(const struct plug *plug, void (*tell)(void *context, const char *option, const char *word), void *context);

#endif
