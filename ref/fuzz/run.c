/* SPDX-License-Identifier: MIT */
/*
 * POSIX threads. Each job takes the next case. Results are counted in the order
 * of the cases' numbers, up to the first failure; those of later cases that
 * another job has judged meanwhile are dropped. So everything that a run
 * reports is the same for any number of jobs.
 */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 256      /* cases that may be judged before an earlier one is */
#define PROGRESS 256    /* cases from one report of progress to the next */

struct judged {
    int ready;
    struct fuzz_made made;
    struct verdict verdict;
    int impossible;         /* then error says why */
    char error[600];
};

struct run {
    struct fuzz *fuzz;
    pthread_mutex_t lock;
    pthread_cond_t room;
    uint64_t next, end;     /* the next case to judge and the one after the last, counted from 0 */
    int over;               /* a failure or an error was counted, or *stop is set */
    struct judged *window;  /* (WINDOW), case c in place c % WINDOW */
};

struct job {
    struct run *run;
    struct adapter *adapter;
    pthread_t thread;
};

/* A kernel keeps to one combination of policies in all cases. */
static void keep_policy(struct verdict *verdict, const struct fuzz *fuzz)
{
    size_t before = 0;

    if (verdict->outcome != OUTCOME_PASS || verdict->fits & fuzz->kept)
        return;
    while (before < 63 && !(fuzz->kept >> before & 1))
        before++;
    verdict_keep_to(verdict, before, fuzz->allowed);
}

const char *fuzz_judge(struct verdict *verdict, struct array kept[STAGES], struct fuzz *fuzz, const struct npz *z)
{
    struct npz copy;
    const char *error = npz_copy(&copy, z, NULL);

    if (error)
        return error;
    if (!(error = judge_arrays(verdict, kept, &fuzz->adapters[0], &copy, "fuzz", fuzz->profile, fuzz->error)))
        keep_policy(verdict, fuzz);
    return error;
}

static int is_stopped(const struct fuzz *fuzz)
{
    return fuzz->stop && *fuzz->stop;
}

static int is_failure(const struct verdict *v)
{
    return v->outcome != OUTCOME_PASS && v->outcome != OUTCOME_SKIP;
}

static void judge_case(struct judged *j, const struct fuzz *fuzz, struct adapter *adapter, uint64_t number)
{
    struct npz z;
    const char *error = fuzz_case(&z, &j->made, &fuzz->stream, number);

    if (error) {
        snprintf(j->error, sizeof j->error, "%s", error);    /* it may be part of z */
        npz_free(&z);
        j->impossible = 1;
        return;
    }
    j->impossible = judge_arrays(&j->verdict, NULL, adapter, &z, "fuzz", fuzz->profile, j->error) != NULL;
    if (!j->impossible && j->verdict.outcome == OUTCOME_UNJUDGED) {    /* no finding: it says nothing about the kernel */
        snprintf(j->error, sizeof j->error, "case %llu could not be judged: %s", (unsigned long long)number, j->verdict.reason);
        j->impossible = 1;
    }
}

/* Count the next case in order. */
static void count_case(struct run *run, struct judged *j)
{
    struct fuzz *fuzz = run->fuzz;

    if (j->impossible) {
        memcpy(fuzz->error, j->error, sizeof fuzz->error);
        run->over = 1;
        return;
    }
    for (int a = 0; a < FUZZ_ASPECTS; a++)
        for (size_t k = 0; k < FUZZ_KINDS; k++)
            fuzz->made[a][k] += j->made.kinds[a] >> k & 1;
    keep_policy(&j->verdict, fuzz);
    if (j->verdict.outcome == OUTCOME_PASS)
        fuzz->kept &= j->verdict.fits;
    fuzz->passed += j->verdict.outcome == OUTCOME_PASS;
    fuzz->finite += j->verdict.outcome == OUTCOME_PASS && j->verdict.finite;
    fuzz->skipped += j->verdict.outcome == OUTCOME_SKIP;
    if (is_failure(&j->verdict)) {
        fuzz->failed = run->over = 1;
        fuzz->number = fuzz->first + fuzz->done;
        fuzz->verdict = j->verdict;
    }
    if (fuzz->done++ % PROGRESS == 0 && fuzz->progress)
        fuzz->progress(fuzz);
}

/* Put a result into the window, and count all that are complete up to it. */
static void add_result(struct run *run, uint64_t number, const struct judged *j)
{
    struct fuzz *fuzz = run->fuzz;

    run->window[number % WINDOW] = *j;
    run->window[number % WINDOW].ready = 1;
    if ((j->impossible || is_failure(&j->verdict)) && number < run->end)
        run->end = number + 1;    /* later cases do not count */
    while (!run->over && fuzz->done < fuzz->count && run->window[fuzz->done % WINDOW].ready) {
        struct judged *first = &run->window[fuzz->done % WINDOW];
        first->ready = 0;
        count_case(run, first);
    }
    pthread_cond_broadcast(&run->room);
}

static void *work(void *argument)
{
    const struct job *job = argument;
    struct run *run = job->run;
    struct fuzz *fuzz = run->fuzz;
    struct judged *j = malloc(sizeof *j);

    pthread_mutex_lock(&run->lock);
    if (!j) {
        snprintf(fuzz->error, sizeof fuzz->error, "not enough memory for a job");
        run->over = 1;
    }
    while (!run->over && run->next < run->end) {
        if (run->next - fuzz->done >= WINDOW) {
            pthread_cond_wait(&run->room, &run->lock);
            continue;
        }
        uint64_t number = run->next++;
        pthread_mutex_unlock(&run->lock);
        judge_case(j, fuzz, job->adapter, fuzz->first + number);
        pthread_mutex_lock(&run->lock);
        if (is_stopped(fuzz))
            run->over = 1;    /* an interrupted case has no verdict */
        else
            add_result(run, number, j);
    }
    pthread_cond_broadcast(&run->room);
    pthread_mutex_unlock(&run->lock);
    free(j);
    return NULL;
}

const char *run_cases(struct fuzz *fuzz)
{
    struct run run = { .fuzz = fuzz, .end = fuzz->count, .window = calloc(WINDOW, sizeof *run.window) };
    struct job *jobs = calloc(fuzz->jobs, sizeof *jobs);
    size_t started = 1;

    fuzz->error[0] = 0;
    if (!fuzz->allowed)
        fuzz->allowed = policy_allowed(0);
    fuzz->kept = fuzz->allowed;
    if (run.window && jobs) {
        pthread_mutex_init(&run.lock, NULL);
        pthread_cond_init(&run.room, NULL);
        for (size_t k = 0; k < fuzz->jobs; k++) {
            fuzz->adapters[k].allowed = fuzz->allowed;
            fuzz->adapters[k].pass_suffices = 1;    /* the verdict of a case that passes is only counted */
            jobs[k] = (struct job){ .run = &run, .adapter = &fuzz->adapters[k] };
        }
        while (started < fuzz->jobs && !pthread_create(&jobs[started].thread, NULL, work, &jobs[started]))
            started++;
        work(&jobs[0]);           /* without threads it does the work of all */
        for (size_t k = 1; k < started; k++)
            pthread_join(jobs[k].thread, NULL);
        pthread_cond_destroy(&run.room);
        pthread_mutex_destroy(&run.lock);
    } else {
        snprintf(fuzz->error, sizeof fuzz->error, "not enough memory for the jobs");
    }
    free(run.window);
    free(jobs);
    return fuzz->error[0] ? fuzz->error : NULL;
}
