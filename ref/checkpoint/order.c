/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../judge/judge.h"

/* On the whole record, with the envelope. */
static const char *judge_reading(struct judged *one, struct order *o, const struct weights *w, const struct npz *record,
                                 const struct reading *r, const struct profile *p)
{
    struct array got[STAGES] = { 0 };
    struct verdict verdict;
    struct vector v;

    if (reading_vector(&v, w, record, r, 0, o->error))
        return o->error;
    const struct mha_in *in = &v.in;
    double *output = record_output(record, r->batch_first, in->N, in->L, in->E);
    if (!output) {
        vector_free(&v);
        return say(o->error, sizeof o->error, "not enough memory for the record");
    }
    got[OUTPUT] = (struct array){ "output", 3, { in->N, in->L, in->E, 1 }, in->N * in->L * in->E, output };
    judge(&verdict, &v, 0, got, p, SCOPE_LAYER);
    *one = (struct judged){ .reading = *r, .passed = verdict.outcome == OUTCOME_PASS,
                            .error_sigma = verdict.worst.stage == STAGES ? 0 : verdict.worst.error_sigma, .noise = verdict.noise };
    say(one->reason, sizeof one->reason, "%.200s", verdict.reason);
    /* A wrong reading may well leave the range of a type; the best one may not. */
    const char *wrong = verdict.outcome == OUTCOME_PASS || verdict.outcome == OUTCOME_FAIL || (verdict.outcome == OUTCOME_SKIP && o->passed)
                      ? NULL : say(o->error, sizeof o->error, "%s", verdict.reason);
    if (verdict.outcome == OUTCOME_SKIP)
        one->error_sigma = NAN;
    if (!o->count) {
        o->N = in->N;
        o->L = in->L;
        o->S = in->S + (in->bias_k != NULL) + (in->add_zero_attn != 0);
        o->E = in->E;
        o->unbatched = !in->batched;
    }
    free(output);
    vector_free(&v);
    return wrong;
}

/* ---- why two readings cannot be told apart ---- */

static int same_weights(const struct weights *w, const struct reading *a, const struct reading *b)
{
    size_t E = w->E;

    for (int which = 0; which < 3; which++)
        for (size_t e = 0; e < E; e++) {
            size_t x = weights_output(w, a, which, e), y = weights_output(w, b, which, e);
            size_t inputs = w->separate ? w->width[x / E] : E;
            if (w->separate && inputs != w->width[y / E])
                return 0;
            if (w->bias && w->bias[x] != w->bias[y])
                return 0;
            for (size_t i = 0; i < inputs; i++)
                if (weights_get(w, a->layout.storing, x, i) != weights_get(w, b->layout.storing, y, i))
                    return 0;
        }
    for (size_t e = 0; e < E && a->out_transposed != b->out_transposed; e++)
        for (size_t i = 0; i < e; i++)
            if (w->out[e * E + i] != w->out[i * E + e])
                return 0;
    return 1;
}

/* Every row of an argument is the same, so that every key weighs the same. */
static int rows_alike(const struct npz_array *a)
{
    size_t C = a ? a->shape[a->ndim - 1] : 0;

    for (size_t i = C; a && i < a->size; i++)
        if (npz_value(a, i) != npz_value(a, i - C))
            return 0;
    return a != NULL;
}

static void explain(struct order *o, const struct weights *w, const struct npz *record)
{
    const struct reading *a = &o->judged[0].reading, *b = &o->judged[1].reading;
    const struct npz_array *key = npz_get(record, "key"), *value = npz_get(record, "value");

    if (!key)
        key = npz_get(record, "query");
    if (a->H == b->H && a->batch_first == b->batch_first && same_weights(w, a, b))
        say(o->why, sizeof o->why, "both readings give the same numbers: weights are alike or symmetric");
    else if (o->S == 1)
        say(o->why, sizeof o->why, "with one key every weight of attention is 1, whatever q and k are; record more than one key");
    else if (rows_alike(key) && rows_alike(value ? value : key))
        say(o->why, sizeof o->why, "all keys of the record are the same row; record different ones");
    else
        say(o->why, sizeof o->why, "the record leaves more than one reading; record other or more inputs");
}

const char *order_find(struct order *o, const struct layer *layer, const struct npz *record, size_t H, const struct profile *p)
{
    const struct npz_array *heads = npz_get(record, "num_heads");
    struct weights w;
    struct reading *all = NULL;
    size_t count = 0;
    const char *wrong;

    *o = (struct order){ .verdict = ORDER_NONE };
    if (!H && heads && heads->size == 1 && npz_value(heads, 0) >= 1 && npz_value(heads, 0) <= (double)layer->E)
        H = (size_t)npz_value(heads, 0);
    if (H && layer->E % H)
        return say(o->error, sizeof o->error, "%zu heads do not divide E = %zu", H, layer->E);
    if ((wrong = weights_take(&w, layer, o->error)))
        return wrong;
    wrong = order_rank(&all, &count, &w, record, H, o->error);
    o->tried = count;
    /* The best, and on until one fails: that is the next best. */
    for (size_t k = 0; k < count && !wrong && o->count < ORDER_JUDGED; k++) {
        wrong = judge_reading(&o->judged[o->count], o, &w, record, &all[k], p);
        if (wrong)
            break;
        struct judged last = o->judged[o->count++];
        if (last.passed) {    /* those that passed come first */
            memmove(&o->judged[o->passed + 1], &o->judged[o->passed], (o->count - 1 - o->passed) * sizeof last);
            o->judged[o->passed++] = last;
        } else if (o->count > 1) {
            break;
        }
    }
    if (!wrong && o->passed)
        o->verdict = o->passed == 1 ? ORDER_PROVEN : ORDER_CANNOT_TELL;
    if (!wrong && o->passed > 1)
        explain(o, &w, record);
    free(all);
    weights_free(&w);
    return wrong;
}
