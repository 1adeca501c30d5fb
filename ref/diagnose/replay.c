/* SPDX-License-Identifier: MIT */
/*
 * Letters: a what is returned, k stage, m element of a whole array.
 */
#include "replay.h"

#include <math.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* Is there something that is not finite among the numbers, but for the -inf of a mask? */
static int infinite_inputs(const struct vector *v)
{
    FOR(m, v->count) if (isnan(v->numbers[m]) || v->numbers[m] == INFINITY) return 1;
    FOR(m, v->in.N * v->in.S * v->in.Ek) if (isinf(v->in.key[m])) return 1;
    FOR(m, v->in.N * v->in.S * v->in.Ev) if (isinf(v->in.value[m])) return 1;
    return 0;
}

const char *judged_vector_read(struct npz *file, const struct judged_vector *e)
{
    return e->file ? npz_copy(file, e->file, NULL) : npz_read_kept(file, e->bytes, e->length, e->path);
}

const char *replay_case_open(struct replay_case *s, const struct judged_vector *e, const struct profile *p)
{
    struct npz file;
    const char *error = judged_vector_read(&file, e);

    if (!error)
        error = vector_from(&s->v, &file, e->name);
    s->judged = e;
    if (error)
        return "a vector cannot be read any more";
    s->rounded = expected_round(&s->v, p);
    if ((error = expected_make(&s->expected, &s->v, s->rounded, p, SCOPE_LAYER)))
        vector_free(&s->v);
    if (error)
        return error;
    s->open = s->expected.answers > 1 || infinite_inputs(&s->v);
    s->canonical = s->v.in;
    s->canonical.query = s->expected.answer[0].stage[QUERY_ROWS].v;
    s->canonical.key = s->expected.answer[0].stage[KEY_ROWS].v;
    s->canonical.value = s->expected.answer[0].stage[VALUE_ROWS].v;
    s->canonical.batched = s->canonical.batch_first = 1;
    return NULL;
}

void replay_case_close(struct replay_case *s)
{
    expected_free(&s->expected);
    vector_free(&s->v);
}

int replay_case_has_results(const struct judged_vector *e)
{
    FOR(a, RETURNED) if (e->got[returned_stages[a]].v) return 1;
    return 0;
}

const char *replay_open(struct replay *r, const struct replay_case *s, const struct fault *f, const struct profile *p, int canonical)
{
    const char *error;

    if ((error = mha_alloc(r->stage, &s->v.in)))
        return error;
    if ((error = mha_alloc(r->sigma, &s->v.in))) {
        mha_free(r->stage);
        return error;
    }
    return fault_forward(r->stage, canonical ? &s->canonical : &s->v.in, f, p != &profiles[PROFILE_FLOAT64]);
}

void replay_close(struct replay *r)
{
    mha_free(r->stage);
    mha_free(r->sigma);
}

int same_shape(const struct array *a, const struct array *b)
{
    int same = a->v && b->v && a->ndim == b->ndim;

    for (int k = 0; same && k < b->ndim; k++)
        same = a->shape[k] == b->shape[k];
    return same;
}

/* How far one element of the kernel is from the replay, in the sum of the two
 * sigmas. open: what is not finite on one side says nothing. */
static double distance(double got, double replayed, double sigma, int open, const struct profile *p)
{
    if (open && (!isfinite(got) || !isfinite(replayed) || sigma == 0))    /* no sigma: the walk met a NaN that the mistake let through */
        return 0;
    if (isnan(got) && isnan(replayed))
        return 0;
    if (isfinite(got) && isfinite(replayed))
        return fabs(got - replayed) / (sigma + p->floor / ENVELOPE_SIGMAS);
    return got == replayed ? 0 : INFINITY;
}

/* The largest finite number, by size. */
static double largest(const struct array *a)
{
    double top = 0;

    FOR(m, a->size) if (isfinite(a->v[m])) top = fmax(top, fabs(a->v[m]));
    return top;
}

/* Far beyond what any rounding does: saves the envelope of a hopeless fault.
 * Rounding moves a score by its size, and a weight by as much. */
static int hopeless(const struct replay_case *s, const struct array got[STAGES], const struct array replayed[STAGES], const struct profile *p)
{
    double loss = 1e4 * fmax(p->u, fmax(p->s, p->o)) * (1 + largest(&replayed[MASKED_SCORES]));

    if (loss > 0.5)
        loss = p->smallest > 0 ? 0.5 : INFINITY;
    FOR(a, RETURNED) {
        const struct array *g = &got[returned_stages[a]], *r = &replayed[returned_stages[a]];
        double top = largest(r);
        if (!same_shape(g, r))
            continue;
        FOR(m, r->size) {
            if (isfinite(g->v[m]) && isfinite(r->v[m]) ? fabs(g->v[m] - r->v[m]) > loss * top + p->floor
                                                       : distance(g->v[m], r->v[m], 1, s->open, p) > 0)
                return 1;
        }
    }
    return 0;
}

/* By what the kernel gave, this vector does not tell the fault from PyTorch's
 * answer; nor from another one, where open. */
static int looks_right(const struct replay *r, const struct replay_case *s, const struct profile *p, int open)
{
    const struct array *got = s->judged->got;

    FOR(a, RETURNED) {
        enum mha_stage k = returned_stages[a];
        const struct array *right = &s->expected.answer[0].stage[k], *sigma = &s->expected.answer[0].sigma[k];
        FOR(m, got[k].v ? right->size : 0)
            if (!(open && !isfinite(right->v[m])) && distance(r->stage[k].v[m], right->v[m], sigma->v[m], 0, p) > ENVELOPE_SIGMAS)
                return 0;
    }
    return 1;
}

double replay_fit(struct replay *r, const struct replay_case *s, const struct profile *p)
{
    const struct array *got = s->judged->got;
    double worst = 0;
    size_t compared = 0;

    if (hopeless(s, got, r->stage, p) || envelope(r->sigma, r->stage, &s->v.in, p, SCOPE_LAYER))
        return INFINITY;
    if (envelope_applies(r->sigma, r->stage, p))
        return NAN;
    FOR(a, RETURNED) {
        enum mha_stage k = returned_stages[a];
        if (!same_shape(&got[k], &r->stage[k]))
            continue;
        FOR(m, got[k].size) {
            double e = distance(got[k].v[m], r->stage[k].v[m], r->sigma[k].v[m] + s->expected.answer[0].sigma[k].v[m],
                                s->open, p);
            if (!(e <= ENVELOPE_SIGMAS))
                return INFINITY;
            worst = fmax(worst, e);
        }
        compared += got[k].size;
    }
    return compared && !looks_right(r, s, p, 0) ? worst : INFINITY;
}

int replay_unnoticed(const struct replay *r, const struct replay_case *s, const struct profile *p)
{
    return looks_right(r, s, p, s->open);
}
