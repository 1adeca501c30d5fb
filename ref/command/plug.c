/* SPDX-License-Identifier: MIT */
/* Linux: prctl(); all else is POSIX: Ctrl-C. */
#define _GNU_SOURCE
#include "plug.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "../host/orphans.h"

#define TIMEOUT 60.0    /* seconds */
#define JOBS 256

/* Set by a signal, so it is global. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;    /* the next Ctrl-C ends the program at once */
}

/* A number of (0, most], or 0. */
static double number(const char *text, double most)
{
    char *end;
    double x = strtod(text, &end);

    return end == text || *end || !(x > 0 && x <= most) ? 0 : x;
}

/* Read --allow NAME[,NAME...] into p->allowed. */
static int read_allowed(struct plug *p)
{
    char error[POLICY_ERROR];
    const char *wrong = policy_allow(&p->allowed, p->allow_text, error);

    return wrong ? complain("--allow", "%s", wrong) : 0;
}

int plug_check(struct plug *p)
{
    double jobs = p->jobs_text ? number(p->jobs_text, JOBS) : 1;
    double timeout = p->timeout_text ? number(p->timeout_text, 1e6) : TIMEOUT;
    double memory = p->memory_text ? number(p->memory_text, 1 << 30) : 0;
    int run = p->kernel || p->command;

    if ((p->kernel != NULL) + (p->command != NULL) + (p->results != NULL) > 1)
        return complain("check", "--kernel, --command and --results: one of them");
    if (p->core && !p->kernel)
        return complain("--core", "is about --kernel LIB.so, which is not there");
    if (p->allow_missing && !p->results)
        return complain("--allow-missing", "says something about --results DIR, which is not there");
    if (!run && (p->jobs_text || p->timeout_text || p->nondeterministic || p->once))
        return complain("check", "--jobs, --timeout, --once and --nondeterministic are about --kernel or --command, which is not there");
    if (p->memory_text && !p->kernel)
        return complain("--memory", "is about --kernel LIB.so, which is not there");
    if (p->once && p->nondeterministic)
        return complain("--once", "leaves nothing for --nondeterministic to permit");
    if (jobs < 1 || jobs != floor(jobs))
        return complain(p->jobs_text, "no number of jobs; wanted 1 to %d", JOBS);
    if (timeout <= 0)
        return complain(p->timeout_text, "no timeout; wanted seconds");
    if (p->memory_text && memory <= 0)
        return complain(p->memory_text, "no amount of memory; wanted MiB");
    if (read_allowed(p))
        return NOT_JUDGED;
    p->jobs = (size_t)jobs;
    p->host = (struct host){ .self = HOST_SELF, .timeout = timeout, .memory = (size_t)(memory * 1048576), .stop = &interrupted };
    return 0;
}

static int open_adapter(struct plug *p, struct adapter *adapter)
{
    char error[600];
    const char *wrong = NULL;

    if (p->kernel)
        wrong = host_open_kernel(adapter, &p->host, p->kernel, p->core ? SCOPE_CORE : SCOPE_LAYER, error);
    else if (p->command)
        wrong = host_open_command(adapter, &p->host, p->command, error);
    else if (p->results)
        *adapter = adapter_results(&p->where);
    else
        *adapter = adapter_reference();
    return wrong ? complain(p->kernel ? p->kernel : p->command, "%s", wrong) : 0;
}

int plug_open(struct plug *p)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    if (p->kernel || p->command) {
#ifdef __linux__
        prctl(PR_SET_DUMPABLE, 0);    /* a kernel of the same user may not trace this process */
#endif
        orphans_adopt();
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
    p->where = (struct adapter_results){ .dir = p->results, .allow_missing = p->allow_missing };
    if (!(p->adapters = calloc(p->jobs, sizeof *p->adapters)))
        return complain("check", "not enough memory for %zu jobs", p->jobs);
    for (size_t k = 0; k < p->jobs; k++) {
        if (open_adapter(p, &p->adapters[k])) {
            plug_close(p);
            return NOT_JUDGED;
        }
        p->adapters[k].allowed = p->allowed;
    }
    return 0;
}

void plug_close(struct plug *p)
{
    for (size_t k = 0; p->adapters && k < p->jobs; k++)
        if ((p->kernel || p->command) && p->adapters[k].state)
            host_close(&p->adapters[k]);
    free(p->adapters);
    p->adapters = NULL;
}

void plug_tell(const struct plug *p, void (*tell)(void *context, const char *option, const char *word), void *context)
{
    const struct { const char *option, *word; int given; } all[] = {
        { "--kernel", p->kernel, p->kernel != NULL }, { "--core", NULL, p->core },
        { "--command", p->command, p->command != NULL }, { "--results", p->results, p->results != NULL },
        { "--allow-missing", NULL, p->allow_missing },
        { "--timeout", p->timeout_text, p->timeout_text != NULL }, { "--memory", p->memory_text, p->memory_text != NULL },
        { "--allow", p->allow_text, p->allow_text != NULL }, { "--once", NULL, p->once }, { "--nondeterministic", NULL, p->nondeterministic },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].given)
            tell(context, all[k].option, all[k].word);
}
