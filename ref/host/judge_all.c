/* SPDX-License-Identifier: MIT */
/*
 * POSIX threads. A job has an adapter of its own and every jobs-th vector, which it
 * sees in a fixed order: from the first to the last, and back.
 *
 * Letters: k vector, s stage, m element of a whole array.
 */
#define _POSIX_C_SOURCE 200809L
#include "judge_all.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/same.h"

struct shared {
    struct host_run *run;
    pthread_mutex_t lock;
    size_t done;
    int failed;
};

struct job {
    struct shared *shared;
    size_t number;
    pthread_t thread;
};

/* ---- twice the same? ---- */

static int differs(char text[200], const struct array first[STAGES], const struct array second[STAGES])
{
    for (int s = 0; s < STAGES; s++) {
        const struct array *a = &first[s], *b = &second[s];
        if (!a->v != !b->v) {
            snprintf(text, 200, "%s was written in one of them only", a->v ? a->name : b->name);
            return 1;
        }
        for (size_t m = 0; a->v && m < a->size && m < b->size; m++)
            if (!same_bits((double)a->v[m], (double)b->v[m])) {
                snprintf(text, 200, "%s, element %zu of %zu: %.9g, then %.9g", a->name, m, a->size, (double)a->v[m], (double)b->v[m]);
                return 1;
            }
    }
    return 0;
}

static void prefix(struct verdict *verdict, const char *text)
{
    size_t length = strlen(text), room = sizeof verdict->reason - 1 - length;

    memmove(verdict->reason + length, verdict->reason, room);
    memcpy(verdict->reason, text, length);
    verdict->reason[length + room] = 0;
}

/* The verdict over both rounds, given that of each. */
static void join(struct verdict *verdict, const struct array first[STAGES], const struct verdict *again,
                 const struct array second[STAGES], int nondeterministic)
{
    static const char in_second[] = "in the second round (reverse order, other alignment): ";
    char where[200], text[400];

    if (again->outcome == OUTCOME_UNJUDGED && verdict->outcome == OUTCOME_FAIL)
        return;    /* the first round is proof enough */
    if (again->outcome != OUTCOME_PASS && again->outcome != OUTCOME_FAIL && again->outcome != OUTCOME_SKIP) {
        *verdict = *again;
        prefix(verdict, in_second);
    } else if ((verdict->outcome == OUTCOME_SKIP) != (again->outcome == OUTCOME_SKIP)) {
        verdict->outcome = OUTCOME_FAIL;
        prefix(verdict, verdict->reason[0] ? "skipped in one round and answered in the other: " : "skipped in one round and answered in the other");
    } else if (!nondeterministic && differs(where, first, second)) {
        snprintf(text, sizeof text, "two runs gave different bits (%s); the second was in reverse order and with other alignment%s",
                 where, verdict->reason[0] ? "; in the first: " : "");
        verdict->outcome = OUTCOME_FAIL;
        prefix(verdict, text);
    } else if (verdict->outcome == OUTCOME_PASS && again->outcome == OUTCOME_FAIL) {
        *verdict = *again;
        prefix(verdict, in_second);
    } else {
        verdict->fits &= again->fits;
        if (verdict->outcome == OUTCOME_PASS && !verdict->fits) {
            verdict->outcome = OUTCOME_FAIL;
            prefix(verdict, "one policy in one round and another in the other");
        }
    }
}

/* ---- jobs ---- */

static int stopped(struct shared *shared)
{
    pthread_mutex_lock(&shared->lock);
    int stop = shared->failed || (shared->run->stop && *shared->run->stop);
    pthread_mutex_unlock(&shared->lock);
    return stop;
}

static void tell(struct shared *shared, const char *name)
{
    struct host_run *run = shared->run;

    pthread_mutex_lock(&shared->lock);
    if (run->progress)
        run->progress(shared->done++, run->count * (run->twice ? 2 : 1), name);
    pthread_mutex_unlock(&shared->lock);
}

/* 0 when the run is over: interrupted, or a vector that cannot be read. */
static int one(struct shared *shared, struct verdict *verdict, struct array got[STAGES], struct adapter *adapter, size_t k)
{
    struct host_run *run = shared->run;
    char error[600];

    const struct judged_vector *e = &run->vectors[k];
    struct npz file;

    tell(shared, e->name);
    const char *wrong = judged_vector_read(&file, e);
    if (wrong)
        snprintf(error, sizeof error, "%s", wrong);
    else
        wrong = judge_arrays(verdict, got, adapter, &file, e->name, run->profile, error);
    if (wrong) {
        pthread_mutex_lock(&shared->lock);
        if (!shared->failed) {
            shared->failed = 1;
            run->unreadable = k;
            memcpy(run->error, error, sizeof error);
        }
        pthread_mutex_unlock(&shared->lock);
        return 0;
    }
    return !stopped(shared);    /* what was interrupted proves nothing */
}

static int settled(const struct verdict *v)
{
    return v->outcome != OUTCOME_PASS && v->outcome != OUTCOME_FAIL && v->outcome != OUTCOME_SKIP;
}

static void *work(void *argument)
{
    const struct job *job = argument;
    struct shared *shared = job->shared;
    struct host_run *run = shared->run;
    struct adapter *adapter = &run->adapters[job->number];
    size_t step = run->jobs, last = job->number;

    adapter->pass = 0;
    for (size_t k = job->number; k < run->count && !stopped(shared); k += step) {
        if (!one(shared, &run->verdicts[k], run->vectors[k].got, adapter, k))
            return NULL;
        run->judged[k] = 1;
        last = k;
    }
    adapter->pass = 1;
    for (size_t k = last; run->twice && k < run->count && !stopped(shared); k -= step) {    /* below 0: beyond count */
        struct verdict again;
        struct array second[STAGES] = { { 0 } };
        if (settled(&run->verdicts[k])) {
            tell(shared, run->vectors[k].name);
            continue;
        }
        int whole = one(shared, &again, second, adapter, k);
        if (whole)
            join(&run->verdicts[k], run->vectors[k].got, &again, second, run->nondeterministic);
        mha_free(second);
        if (!whole)
            return NULL;
    }
    return NULL;
}

const char *host_run(struct host_run *run)
{
    struct shared shared = { .run = run };
    struct job *jobs = calloc(run->jobs, sizeof *jobs);
    size_t started = 1;

    if (!jobs) {
        snprintf(run->error, sizeof run->error, "not enough memory for the jobs");
        return run->error;
    }
    pthread_mutex_init(&shared.lock, NULL);
    for (size_t k = 0; k < run->count; k++)
        run->vectors[k].verdict = &run->verdicts[k];
    for (size_t j = 0; j < run->jobs; j++)
        jobs[j] = (struct job){ .shared = &shared, .number = j };
    while (started < run->jobs && !pthread_create(&jobs[started].thread, NULL, work, &jobs[started]))
        started++;
    work(&jobs[0]);
    for (size_t j = started; j < run->jobs; j++)    /* threads that could not be had */
        work(&jobs[j]);
    for (size_t j = 1; j < started; j++)
        pthread_join(jobs[j].thread, NULL);
    pthread_mutex_destroy(&shared.lock);
    free(jobs);
    return shared.failed ? run->error : NULL;
}

size_t host_run_compact(struct host_run *run)
{
    size_t kept = 0;

    for (size_t k = 0; k < run->count; k++) {
        if (!run->judged[k]) {
            mha_free(run->vectors[k].got);
            continue;
        }
        if (kept != k) {
            run->vectors[kept] = run->vectors[k];
            run->verdicts[kept] = run->verdicts[k];
            run->vectors[kept].verdict = &run->verdicts[kept];
            memset(run->vectors[k].got, 0, sizeof run->vectors[k].got);
        }
        kept++;
    }
    return kept;
}
