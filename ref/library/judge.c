/* SPDX-License-Identifier: MIT */
/* Letters: k stage or dimension, i array that was given, m element. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/call.h"
#include "library.h"

/* The number of elements, or SIZE_MAX where a shape is none. */
static size_t elements(const struct qkvec_array *a)
{
    size_t size = 1;

    if (a->ndim < 0 || a->ndim > 4)
        return SIZE_MAX;
    for (int k = 0; k < a->ndim; k++) {
        if (a->shape[k] < 0 || (a->shape[k] && size > SIZE_MAX / sizeof(real) / (size_t)a->shape[k]))
            return SIZE_MAX;
        size *= (size_t)a->shape[k];
    }
    return size;
}

/* NULL, or what is wrong with it. */
static const char *take(struct array *got, const struct qkvec_array *a, const char *stage)
{
    size_t size = elements(a);

    if (a->dtype > QKVEC_BFLOAT16)
        return "found numbers of another type, wanted float";
    if (size == SIZE_MAX)
        return "its shape is none";
    *got = (struct array){ .name = stage, .ndim = a->ndim, .size = size };
    for (int k = 0; k < 4; k++)
        got->shape[k] = k < a->ndim ? (size_t)a->shape[k] : 1;
    if (!(got->v = malloc((size ? size : 1) * sizeof *got->v)))
        return "not enough memory";
    call_get(got->v, a->data, a->dtype, size);
    return NULL;
}

/* NULL, or what is wrong with it. */
static const char *take_by_name(struct array got[STAGES], const struct qkvec_array *a, const struct array stage[STAGES])
{
    size_t k = 0;

    while (k < STAGES && strcmp(stage[k].name, a->name) != 0)
        k++;
    if (k == STAGES)
        return "not the name of a stage";
    if (got[k].v)
        return "given twice";
    return take(&got[k], a, stage[k].name);
}

static void answer_given(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p)
{
    const struct given *given = self->state;
    struct array stage[STAGES];    /* for the names */
    const char *subject = "", *wrong = mha_alloc(stage, &v->in);

    (void)p;
    if (!wrong) {
        for (size_t i = 0; i < given->count && !wrong; i++)
            if ((wrong = take_by_name(result->got, &given->arrays[i], stage)))
                subject = given->arrays[i].name;
        mha_free(stage);
    }
    if (wrong) {
        result->outcome = OUTCOME_ERROR;
        snprintf(result->reason, sizeof result->reason, "%.200s%s%s", subject, *subject ? ": " : "", wrong);
    }
}

static void tell(struct qkvec_verdict *to, const struct verdict *from, const struct array stage[STAGES])
{
    *to = (struct qkvec_verdict){
        .outcome = from->outcome == OUTCOME_PASS ? QKVEC_PASS : from->outcome == OUTCOME_FAIL ? QKVEC_FAIL : QKVEC_NOT_JUDGED,
        .meets = from->meets ? from->meets->name : NULL,
        .policy = from->policy ? from->policy->name : NULL,
        .first_wrong = from->first_wrong < STAGES ? stage[from->first_wrong].name : NULL,
        .noise = from->noise,
        .stage = from->worst.stage < STAGES ? stage[from->worst.stage].name : NULL,
        .ndim = from->worst.ndim,
        .got = from->worst.got, .expected = from->worst.expected,
        .sigma = from->worst.sigma, .error_sigma = from->worst.error_sigma,
    };
    for (int k = 0; k < 4; k++)
        to->index[k] = (int64_t)from->worst.index[k];
    memcpy(to->reason, from->reason, sizeof to->reason);
}

static int not_judged(struct qkvec_verdict *verdict, const char *subject, const char *wrong)
{
    *verdict = (struct qkvec_verdict){ .outcome = QKVEC_NOT_JUDGED, .noise = NAN };
    snprintf(verdict->reason, sizeof verdict->reason, "%.200s%s", subject, wrong);
    return 0;
}

const char *library_judge(struct qkvec_verdict *verdict, struct verdict *made, struct array kept[STAGES],
                          const struct qkvec_vector *v, const struct profile *p, struct adapter *adapter)
{
    struct npz copy;
    struct array stage[STAGES];
    char error[600];
    const char *wrong = mha_alloc(stage, &v->v.in);

    if (!wrong) {
        if (!(wrong = npz_copy(&copy, &v->v.file, NULL)) && !(wrong = judge_arrays(made, kept, adapter, &copy, v->v.name, p, error)))
            tell(verdict, made, stage);
        mha_free(stage);    /* the names are constants */
    }
    if (wrong)
        not_judged(verdict, "", wrong);
    return wrong ? verdict->reason : NULL;
}

static int judge_once(struct qkvec_verdict *verdict, const struct qkvec_vector *v, const char *profile, struct adapter *adapter)
{
    const struct profile *p = profile_named(profile);
    struct verdict made;

    if (!p)
        return not_judged(verdict, profile, ": no such profile");
    return !library_judge(verdict, &made, NULL, v, p, adapter) && verdict->outcome == QKVEC_PASS;
}

struct adapter library_results(struct given *given)
{
    return (struct adapter){ .name = "arrays", .answer = answer_given, .state = given };
}

int qkvec_judge(struct qkvec_verdict *verdict, const struct qkvec_vector *v, const char *profile,
                const struct qkvec_array *got, size_t count)
{
    struct given given = { got, count };
    struct adapter adapter = library_results(&given);

    return judge_once(verdict, v, profile, &adapter);
}

int qkvec_judge_kernel(struct qkvec_verdict *verdict, const struct qkvec_vector *v, const char *profile,
                       int (*kernel)(const struct qkvec_call *call), int core)
{
    struct adapter_call state = { kernel };
    struct adapter adapter = adapter_call(&state, "kernel", core ? SCOPE_CORE : SCOPE_LAYER);

    return judge_once(verdict, v, profile, &adapter);
}
