/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../judge/judge.h"

/* Everything that judging needs. */
struct court {
    const struct weights *w;
    const struct npz *record;
    const struct profile *p;
    int plain;                  /* the layer is one of nn.MultiheadAttention */
};

static int is_plain(const struct steps *s)
{
    return s->scale == SCALE_ROOT_D && s->mask == MASK_RECORDED && s->position == POSITION_NONE && s->norm == HEAD_NORM_NONE && !s->pre_norm
           && !s->residual && !s->no_out_bias;
}

/* Judge a plain reading of a plain layer on the whole record, with the envelope. */
static const char *judge_by_envelope(struct judged *judged, struct order *o, const struct court *court, const struct reading *r, const struct io *io)
{
    struct array got[STAGES] = { 0 };
    struct verdict verdict;
    struct vector v;

    if (reading_vector(&v, court->w, court->record, r, o->error))
        return o->error;
    const struct mha_in *in = &v.in;
    got[OUTPUT] = (struct array){ "output", 3, { in->N, in->L, in->E, 1 }, in->N * in->L * in->E, io->output };
    judge(&verdict, &v, 0, got, court->p, SCOPE_LAYER);
    *judged = (struct judged){ .reading = *r, .passed = verdict.outcome == OUTCOME_PASS,
                               .error_sigma = verdict.worst.stage == STAGES ? 0 : verdict.worst.error_sigma, .noise = verdict.noise };
    say(judged->reason, sizeof judged->reason, "%.200s", verdict.reason);
    /* A wrong reading may well leave the range of a type; the best one may not. */
    const char *wrong = verdict.outcome == OUTCOME_PASS || verdict.outcome == OUTCOME_FAIL || (verdict.outcome == OUTCOME_SKIP && o->passed)
                      ? NULL : say(o->error, sizeof o->error, "%s", verdict.reason);
    if (verdict.outcome == OUTCOME_SKIP)
        judged->error_sigma = NAN;
    vector_free(&v);
    return wrong;
}

static const char *judge_reading(struct judged *judged, struct order *o, const struct court *court, const struct reading *r)
{
    struct io io;
    const char *wrong = io_read(&io, court->record, r->batch_first, court->w, o->error);

    if (wrong)
        return wrong;
    if (!o->N) {
        o->N = io.N;
        o->L = io.L;
        o->S = io.S + (court->w->bias_k != NULL) + (size_t)io.zero_row;
        o->E = io.width[0];
        o->unbatched = !io.batched;
    }
    if (court->plain && is_plain(&r->steps) && (!io.mask || io.mask->ndim < 4))
        wrong = judge_by_envelope(judged, o, court, r, &io);
    else if ((wrong = judge_by_rounding(judged, &io, court->w, r, court->p)))
        wrong = say(o->error, sizeof o->error, "%s", wrong);
    io_free(&io);
    return wrong;
}

/* ---- why two readings cannot be told apart ---- */

static int same_weights(const struct weights *w, const struct reading *a, const struct reading *b)
{
    size_t A = w->rows[0];

    for (int which = 0; which < 3; which++) {
        size_t inputs = weights_inputs(w, a, which);
        if (inputs != weights_inputs(w, b, which))
            return 0;
        for (size_t e = 0; e < w->rows[which]; e++) {
            if (weights_bias(w, a, which, e) != weights_bias(w, b, which, e))
                return 0;
            for (size_t i = 0; i < inputs; i++)
                if (weights_get(w, a, which, e, i) != weights_get(w, b, which, e, i))
                    return 0;
        }
    }
    for (size_t e = 0; e < A && a->out_transposed != b->out_transposed; e++)
        for (size_t i = 0; i < e; i++)
            if (w->out[e * A + i] != w->out[i * A + e])
                return 0;
    return 1;
}

/* Return whether every row of an argument is the same, so that every key weighs the same. */
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

/* ---- the search ---- */

/* Return whether two readings take the same numbers for q, k and v, whatever the steps. */
static int same_layout(const struct reading *a, const struct reading *b)
{
    return !memcmp(a->layout.slot, b->layout.slot, sizeof a->layout.slot) && a->layout.portions == b->layout.portions && a->layout.storing == b->layout.storing
           && a->layout.shards == b->layout.shards && a->H == b->H && a->batch_first == b->batch_first && a->out_transposed == b->out_transposed;
}

/* Keep other steps that fit as well under the same layout, in words. */
static void keep_alternative(struct order *o, const struct judged *j)
{
    char text[STEPS_TEXT];
    size_t at = strlen(o->also);

    steps_text(text, &j->reading.steps);
    if (at + strlen(text) + 8 < sizeof o->also)
        say(o->also + at, sizeof o->also - at, "%s%s", at ? ", or " : "", text[0] ? text : "the plain steps");
}

/* Judge the best of a ranking, and on until one fails: that is the next best. */
static const char *judge_best(struct order *o, const struct court *court, const struct ranking *all)
{
    const char *wrong = NULL;
    size_t fits_too = 0;

    o->count = o->passed = 0;
    for (size_t k = 0; k < all->count && !wrong && o->count < ORDER_JUDGED && fits_too < ORDER_JUDGED; k++) {
        struct judged last;
        int again = 0;
        for (size_t m = 0; m < o->passed; m++)
            again |= same_layout(&o->judged[m].reading, &all->reading[k]);
        if ((wrong = judge_reading(&last, o, court, &all->reading[k])))
            break;
        if (again) {    /* the same layout with other steps */
            if (last.passed)
                keep_alternative(o, &last);
            fits_too++;
            continue;
        }
        o->judged[o->count++] = last;
        if (last.passed) {    /* those that passed come first */
            memmove(&o->judged[o->passed + 1], &o->judged[o->passed], (o->count - 1 - o->passed) * sizeof last);
            o->judged[o->passed++] = last;
        } else if (o->count > 1) {
            break;
        }
    }
    return wrong;
}

/* After one layout has been found to fit with some steps, try all others with the same steps. */
static const char *try_other_layouts(struct order *o, const struct court *court, const struct search *s)
{
    const struct steps steps = o->judged[0].reading.steps;
    struct ranking all;
    const char *wrong = order_rank(&all, s, o->depth, &steps, o->error);

    o->tried += all.tried;
    if (!wrong)
        wrong = judge_best(o, court, &all);
    free(all.reading);
    return wrong;
}

/* Rank and judge with more and more steps, until a reading fits. The nearest miss of all is kept. */
static const char *deepen(struct order *o, const struct court *court, const struct search *s)
{
    struct judged nearest = { .reading.rms = INFINITY };
    const char *wrong = NULL;

    for (o->depth = 0; o->depth <= 3 && !wrong; o->depth++) {
        struct ranking all;
        wrong = order_rank(&all, s, o->depth, NULL, o->error);
        o->tried += all.tried;
        o->names_only |= all.names_only;
        if (!wrong && all.count && (all.reading[0].rms < 0.1 || !o->depth))
            wrong = judge_best(o, court, &all);
        if (!wrong && !o->passed && all.count && all.reading[0].rms < nearest.reading.rms)
            wrong = judge_reading(&nearest, o, court, &all.reading[0]);
        free(all.reading);
        if (!wrong && o->passed && o->depth)
            wrong = try_other_layouts(o, court, s);
        if (o->passed)
            return wrong;
    }
    o->depth = 3;
    o->judged[0] = nearest;
    o->count = 1;
    return wrong;
}

const char *order_find(struct order *o, const struct layer *layer, const struct checkpoint *c, const struct config *config,
                       const struct npz *record, size_t H, const struct profile *p)
{
    const struct npz_array *heads = npz_get(record, "num_heads");
    size_t A = layer->rows[0], K = layer->rows[1];
    struct weights w;
    char error[SENTENCE];

    *o = (struct order){ .verdict = ORDER_NONE };
    if (!H && heads && heads->size == 1 && npz_value(heads, 0) >= 1 && npz_value(heads, 0) <= (double)A)
        H = (size_t)npz_value(heads, 0);
    if (H && (A % H || K % (A / H) || H % (K / (A / H))))
        return say(o->error, sizeof o->error, "%zu heads do not divide the %zu outputs of q and %zu of k", H, A, K);
    if (weights_take(&w, layer, c, error))
        return say(o->error, sizeof o->error, "%s", error);
    struct court court = { &w, record, p, layer_plain(layer) };
    struct search s = { &w, layer, config, record, H };
    const char *wrong = deepen(o, &court, &s);
    if (!wrong && o->passed)
        o->verdict = o->passed == 1 ? ORDER_PROVEN : ORDER_CANNOT_TELL;
    if (!wrong && o->passed > 1)
        explain(o, &w, record);
    weights_free(&w);
    return wrong;
}
