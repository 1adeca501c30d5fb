/* SPDX-License-Identifier: MIT */
/* Many vectors, one report. Letters: k number of a vector in the run. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/call.h"
#include "../report/report.h"
#include "../store/grow.h"
#include "library.h"

struct qkvec_run {
    char *kernel, *pattern;              /* its name; which vectors, or NULL */
    const struct qkvec_corpus *corpus;
    const struct profile *profile;
    enum scope scope;
    uint64_t allowed;                    /* combinations of policies that pass */
    size_t count, verdict_room, vector_room;
    struct verdict *verdicts;            /* [count] */
    struct judged_vector *vectors;       /* [count]: path and name are the run's own */
};

struct qkvec_run *qkvec_run_open(const struct qkvec_corpus *corpus, const char *kernel, const char *profile, int core,
                                 const char *pattern, const char *allow, char error[QKVEC_SENTENCE])
{
    struct qkvec_run *run = calloc(1, sizeof *run);
    const struct profile *p = profile_named(profile);
    char unknown[POLICY_ERROR];

    if (!p) {
        snprintf(error, QKVEC_SENTENCE, "%.200s: no such profile; wanted float64, float32, tf32, float16 or bfloat16", profile);
    } else if (!run || !(run->kernel = strdup(kernel)) || (pattern && !(run->pattern = strdup(pattern)))) {
        snprintf(error, QKVEC_SENTENCE, "not enough memory");
    } else if (policy_allow(&run->allowed, allow, unknown)) {
        snprintf(error, QKVEC_SENTENCE, "%s", unknown);
    } else {
        run->corpus = corpus;
        run->profile = p;
        run->scope = core ? SCOPE_CORE : SCOPE_LAYER;
        return run;
    }
    qkvec_run_close(run);
    return NULL;
}

static void forget(struct judged_vector *v)
{
    mha_free(v->got);
    free((char *)v->path);
    free((char *)v->name);
}

void qkvec_run_close(struct qkvec_run *run)
{
    if (!run)
        return;
    for (size_t k = 0; k < run->count; k++)
        forget(&run->vectors[k]);
    free(run->vectors);
    free(run->verdicts);
    free(run->kernel);
    free(run->pattern);
    free(run);
}

/* The file of a vector, to free: in the corpus, or its name is its path. */
static char *path_of(const struct qkvec_run *run, const char *name)
{
    const struct corpus *c = &run->corpus->corpus;
    size_t size = strlen(c->dir) + strlen(name) + sizeof "/.npz";
    char *path = malloc(size);

    if (path && corpus_find(c, name))
        snprintf(path, size, "%s/%s.npz", c->dir, name);
    else if (path)
        snprintf(path, size, "%s", name);
    return path;
}

static int room_for_one(struct qkvec_run *run)
{
    struct verdict *verdicts = grow(run->verdicts, &run->verdict_room, run->count, sizeof *verdicts);
    struct judged_vector *vectors = NULL;

    if (verdicts) {
        run->verdicts = verdicts;
        vectors = grow(run->vectors, &run->vector_room, run->count, sizeof *vectors);
    }
    if (vectors)
        run->vectors = vectors;
    return vectors != NULL;
}

static int judge_one(struct qkvec_run *run, struct qkvec_verdict *verdict, const struct qkvec_vector *v, struct adapter *adapter)
{
    adapter->allowed = run->allowed;
    struct judged_vector judged = { .path = path_of(run, v->v.name), .name = strdup(v->v.name) };

    if (!judged.path || !judged.name || !room_for_one(run)) {
        forget(&judged);
        *verdict = (struct qkvec_verdict){ .outcome = QKVEC_NOT_JUDGED };
        snprintf(verdict->reason, sizeof verdict->reason, "not enough memory");
        return 0;
    }
    if (library_judge(verdict, &run->verdicts[run->count], judged.got, v, run->profile, adapter)) {
        forget(&judged);
        return 0;
    }
    run->vectors[run->count++] = judged;
    return verdict->outcome == QKVEC_PASS;
}

int qkvec_run_kernel(struct qkvec_run *run, struct qkvec_verdict *verdict, const struct qkvec_vector *v,
                     int (*kernel)(const struct qkvec_call *call))
{
    struct adapter_call state = { kernel };
    struct adapter adapter = adapter_call(&state, run->kernel, run->scope);

    return judge_one(run, verdict, v, &adapter);
}

int qkvec_run_results(struct qkvec_run *run, struct qkvec_verdict *verdict, const struct qkvec_vector *v,
                      const struct qkvec_array *got, size_t count)
{
    struct given given = { got, count };
    struct adapter adapter = library_results(&given);

    return judge_one(run, verdict, v, &adapter);
}

/* A kernel keeps to one answer in a whole run, so what a vector's verdict is worth shows here. */
static struct report report_of(const struct qkvec_run *run, const struct diagnosis *diagnosis)
{
    size_t combination = verdicts_keep_to_one(run->verdicts, run->count, run->allowed);
    const struct corpus *c = &run->corpus->corpus;
    struct report report = {
        .kernel = run->kernel, .scope = run->scope, .profile = run->profile, .pattern = run->pattern, .switches = "",
        .asked = run->count, .count = run->count, .verdicts = run->verdicts, .combination = combination, .diagnosis = diagnosis,
    };

    if (run->count && corpus_find(c, run->vectors[0].name)) {
        report.corpus_version = c->version;
        report.corpus_hash = c->hash;
        report.corpus_vectors = c->count;
    }
    return report;
}

int qkvec_run_status(const struct qkvec_run *run)
{
    struct report report = report_of(run, NULL);

    return report_status(&report);
}

char *qkvec_run_report(const struct qkvec_run *run, const char *format, char error[QKVEC_SENTENCE])
{
    struct diagnosis diagnosis;
    char *text = NULL;
    size_t length;
    int which = 0;

    while (which < REPORT_FORMATS && strcmp(format, report_formats[which]) != 0)
        which++;
    if (which == REPORT_FORMATS) {
        snprintf(error, QKVEC_SENTENCE, "%.200s: no such format; wanted text, tap, junit or json", format);
        return NULL;
    }
    for (size_t k = 0; k < run->count; k++)
        run->vectors[k].verdict = &run->verdicts[k];
    verdicts_keep_to_one(run->verdicts, run->count, run->allowed);    /* before the diagnosis, which looks at failures */
    const char *wrong = diagnose(&diagnosis, run->vectors, run->count, run->profile);
    struct report report = report_of(run, wrong ? NULL : &diagnosis);
    FILE *f = open_memstream(&text, &length);
    if (f) {
        report_write(f, &report, (enum report_format)which);
        if (fclose(f) == 0)
            return text;
    }
    free(text);
    snprintf(error, QKVEC_SENTENCE, "not enough memory for the report");
    return NULL;
}

void qkvec_text_free(char *text)
{
    free(text);
}
