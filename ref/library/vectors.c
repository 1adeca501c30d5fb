/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../report/report.h"
#include "library.h"

const char *qkvec_library_version(void)
{
    return qkvec_version;
}

static void *no_memory(char error[QKVEC_SENTENCE])
{
    snprintf(error, QKVEC_SENTENCE, "not enough memory");
    return NULL;
}

struct qkvec_corpus *qkvec_corpus_open(const char *dir, char error[QKVEC_SENTENCE])
{
    struct qkvec_corpus *c = malloc(sizeof *c);
    const char *wrong;

    if (!c)
        return no_memory(error);
    if ((wrong = corpus_open(&c->corpus, dir))) {
        snprintf(error, QKVEC_SENTENCE, "%s", wrong);
        free(c);
        return NULL;
    }
    return c;
}

void qkvec_corpus_close(struct qkvec_corpus *c)
{
    if (c)
        corpus_close(&c->corpus);
    free(c);
}

const char *qkvec_corpus_version(const struct qkvec_corpus *c)
{
    return c->corpus.version;
}

size_t qkvec_corpus_count(const struct qkvec_corpus *c)
{
    return c->corpus.count;
}

const char *qkvec_corpus_name(const struct qkvec_corpus *c, size_t k)
{
    return k < c->corpus.count ? c->corpus.vectors[k].name : NULL;
}

/* Read the chosen vector, or the file at path if chosen is NULL. */
static struct qkvec_vector *read_vector(const struct chosen *chosen, const char *path, char error[QKVEC_SENTENCE])
{
    struct qkvec_vector *v = calloc(1, sizeof *v);
    const char *wrong;

    if (!v)
        return no_memory(error);
    if ((wrong = chosen ? vector_read_chosen(&v->v, chosen) : vector_read(&v->v, path, path))) {
        snprintf(error, QKVEC_SENTENCE, "%.400s: %s", path, wrong);
        free(v);
        return NULL;
    }
    return v;
}

struct qkvec_vector *qkvec_vector_open(const struct qkvec_corpus *c, const char *name, char error[QKVEC_SENTENCE])
{
    struct choice choice;
    struct qkvec_vector *v = NULL;
    const char *wrong;

    if (!corpus_find(&c->corpus, name)) {    /* no patterns, and no files */
        snprintf(error, QKVEC_SENTENCE, "%.200s: no vector of that name", name);
    } else if ((wrong = corpus_choose(&choice, &c->corpus, 1, &name))) {
        snprintf(error, QKVEC_SENTENCE, "%s", wrong);
    } else {
        v = read_vector(&choice.chosen[0], choice.chosen[0].path, error);
        choice_free(&choice);
    }
    return v;
}

struct qkvec_vector *qkvec_vector_read(const char *path, char error[QKVEC_SENTENCE])
{
    return read_vector(NULL, path, error);
}

void qkvec_vector_close(struct qkvec_vector *v)
{
    if (!v)
        return;
    if (v->interpreted)
        mha_free(v->stage);
    vector_free(&v->v);
    free(v);
}

int qkvec_vector_member(struct qkvec_array *a, const struct qkvec_vector *v, const char *name)
{
    static const uint32_t dtype[NPZ_TYPES] = {
        [NPZ_F2] = QKVEC_FLOAT16, [NPZ_F4] = QKVEC_FLOAT32, [NPZ_F8] = QKVEC_FLOAT64,
        [NPZ_I8] = QKVEC_INT64, [NPZ_B1] = QKVEC_BOOL, [NPZ_U1] = QKVEC_BYTES,
    };
    const struct npz_array *member = npz_get(&v->v.file, name);

    *a = (struct qkvec_array){ 0 };
    if (!member)
        return 0;
    *a = (struct qkvec_array){ .name = member->name, .dtype = dtype[member->type], .ndim = member->ndim, .data = member->data };
    for (int k = 0; k < 4; k++)
        a->shape[k] = (int64_t)member->shape[k];
    return 1;
}

int qkvec_vector_stage(struct qkvec_array *a, struct qkvec_vector *v, const char *name)
{
    *a = (struct qkvec_array){ 0 };
    if (!v->interpreted) {
        if (mha_alloc(v->stage, &v->v.in))
            return 0;
        mha_forward(v->stage, &v->v.in);
        v->interpreted = 1;
    }
    for (int k = 0; k < STAGES; k++) {
        const struct array *stage = &v->stage[k];
        if (!stage->v || strcmp(stage->name, name) != 0)
            continue;
        *a = (struct qkvec_array){ .name = stage->name, .dtype = QKVEC_FLOAT64, .ndim = stage->ndim, .data = stage->v };
        for (int d = 0; d < 4; d++)
            a->shape[d] = (int64_t)stage->shape[d];
        return 1;
    }
    return 0;
}
