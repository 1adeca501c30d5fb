/* SPDX-License-Identifier: MIT */
/*
 * All readings, ranked by their error on a part of the record.
 *
 * Whatever the order and the number of heads, a reading picks its q, k and v
 * out of the same 3E products of an input with the outputs of the weight. So
 * these are computed once for each way of storing, and each reading only
 * gathers heads from them and runs the rest of the recipe.
 *
 * Letters: n batch item, i query row, j key row, t row of either kind, h head,
 * d channel of a head, e channel, o output of the packed weight.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../corpus/vector.h"
#include "../store/grow.h"
#include "order.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

enum { ITEMS = 2, QUERIES = 8, KEYS = 4096 };    /* the part of the record; keys of all items */

/* The part of the record as (N,L,E) and so on, and the 3E products of each row. */
struct part {
    struct mha_in in;
    double *rows[3];        /* query, key, value */
    double *products[3];    /* (rows, 3E); undefined for a slot of another width */
    double *want;           /* (N,L,E) */
    double *out[2];         /* out_proj.weight as stored, and transposed */
};

static void part_free(struct part *part)
{
    FOR(x, 3) {
        free(part->rows[x]);
        free(part->products[x]);
    }
    free(part->want);
    free(part->out[1]);
}

static double *canonical(const double *x, const struct vector *v, size_t N, size_t T, size_t whole_N, size_t whole_T, size_t C)
{
    double *y = malloc((N * T * C + 1) * sizeof *y);

    if (y)
        FOR(n, N) FOR(t, T)
            memcpy(y + (n * T + t) * C, x + (v->in.batch_first ? n * whole_T + t : t * whole_N + n) * C, C * sizeof *y);
    return y;
}

static int part_make(struct part *part, const struct vector *v, const struct weights *w, const struct npz *record)
{
    const struct mha_in *in = &v->in;
    size_t N = in->N < ITEMS ? in->N : in->S > KEYS / ITEMS ? 1 : ITEMS, E = in->E;
    size_t L = in->L < QUERIES || in->attn_mask.ndim == 3 ? in->L : QUERIES;    /* (L,S) alone can be cut short */
    double *all = record_output(record, in->batch_first, in->N, in->L, E);

    *part = (struct part){ .in = *in };
    part->in.N = N;
    part->in.L = L;
    part->in.batched = part->in.batch_first = 1;
    part->rows[0] = canonical(in->query, v, N, L, in->N, in->L, E);
    part->rows[1] = canonical(in->key, v, N, in->S, in->N, in->S, in->Ek);
    part->rows[2] = canonical(in->value, v, N, in->S, in->N, in->S, in->Ev);
    part->want = malloc((N * L * E + 1) * sizeof *part->want);
    part->out[0] = w->out;
    part->out[1] = malloc(E * E * sizeof *part->out[1]);
    FOR(x, 3) part->products[x] = malloc((N * (x ? in->S : L) * 3 * E + 1) * sizeof(double));
    int ok = all && part->rows[0] && part->rows[1] && part->rows[2] && part->want && part->out[1]
          && part->products[0] && part->products[1] && part->products[2];
    if (ok) {
        FOR(n, N) memcpy(part->want + n * L * E, all + n * in->L * E, L * E * sizeof *all);
        FOR(e, E) FOR(i, E) part->out[1][e * E + i] = w->out[i * E + e];
    }
    free(all);
    return ok;
}

/* products[x][t][o] = rows[x][t] . weight of o + bias of o, where the widths fit.
 * buffer has room for the longest weight. */
static void multiply(struct part *part, const struct weights *w, enum storing storing, double *buffer)
{
    const size_t width[3] = { part->in.E, part->in.Ek, part->in.Ev }, outputs = 3 * w->E;

    FOR(o, outputs) {
        size_t inputs = w->separate ? w->width[o / w->E] : w->E;
        FOR(i, inputs) buffer[i] = weights_get(w, storing, o, i);
        FOR(x, 3) FOR(t, width[x] == inputs ? part->in.N * (x ? part->in.S : part->in.L) : 0) {
            const double *row = part->rows[x] + t * inputs;
            double sum = 0;
            FOR(i, inputs) sum += row[i] * buffer[i];
            part->products[x][t * outputs + o] = sum + (w->bias ? w->bias[o] : 0);
        }
    }
}

/* The heads of q, k or v, gathered; then bias_k or bias_v as one more row. */
static void gather(struct array *y, int which, const struct part *part, const struct reading *r)
{
    size_t N = y->shape[0], H = y->shape[1], T = y->shape[2], D = y->shape[3], E = H * D;
    size_t rows = which ? part->in.S : part->in.L;
    const double *bias = which == 1 ? part->in.bias_k : which == 2 ? part->in.bias_v : NULL;

    FOR(n, N) FOR(h, H) FOR(t, T) FOR(d, D) {
        size_t o = layout_output(&r->layout, &(struct outputs){ E, { E, E, E }, H }, which, h * D + d);
        y->v[((n * H + h) * T + t) * D + d] = t < rows ? part->products[which][(n * rows + t) * 3 * E + o]
                                            : bias && t == rows ? bias[h * D + d] : 0;
    }
}

static double error_of(const struct array *output, const double *want)
{
    double squares = 0;
    size_t count = 0;

    FOR(m, output->size) if (isfinite(output->v[m]) && isfinite(want[m])) {
        squares += (output->v[m] - want[m]) * (output->v[m] - want[m]);
        count++;
    }
    return count ? sqrt(squares / (double)count) : INFINITY;
}

struct list {
    struct reading *reading;
    size_t count, room;
};

static int append(struct list *list, const struct reading *r)
{
    struct reading *readings = grow(list->reading, &list->room, list->count, sizeof *readings);

    if (!readings)
        return 0;
    list->reading = readings;
    list->reading[list->count++] = *r;
    return 1;
}

/* Every order and both out_proj for one way of storing, portions and number of heads. */
static const char *try_orders(struct list *list, struct array t[STAGES], struct part *part, const struct weights *w, struct reading r)
{
    for (int order = 0; order < LAYOUT_ORDERS; order++) {
        layout_order(r.layout.slot, order);
        if (!reading_fits(w, &r.layout, part->in.E, part->in.Ek, part->in.Ev))
            continue;
        for (int which = 0; which < 3; which++)
            gather(&t[Q_HEADS + which], which, part, &r);
        mha_core(t, &part->in);
        for (r.out_transposed = 0; r.out_transposed < 2; r.out_transposed++) {
            part->in.out_proj_weight = part->out[r.out_transposed];
            mha_output(t, &part->in);
            r.rms = error_of(&t[OUTPUT], part->want);
            if (!append(list, &r))
                return "not enough memory for the readings";
        }
    }
    return NULL;
}

static const char *try_heads(struct list *list, struct part *part, const struct weights *w, struct reading r)
{
    size_t D = w->E / r.H;
    struct array t[STAGES];
    const char *wrong;

    part->in.H = r.H;
    if ((wrong = mha_alloc(t, &part->in)))
        return wrong;
    for (int portions = 0; portions < PORTIONS_SHARDS && !wrong; portions++) {
        if (portions != PORTIONS_WHOLE && (w->separate || r.layout.storing > STORED_COLUMNS))
            continue;
        if ((portions == PORTIONS_HEAD && r.H == 1) || (portions == PORTIONS_ELEMENT && D == 1))
            continue;    /* the same as the portions before */
        r.layout.portions = (enum portions)portions;
        wrong = try_orders(list, t, part, w, r);
    }
    mha_free(t);
    return wrong;
}

static int by_rms(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;

    return (x->rms > y->rms) - (x->rms < y->rms);
}

static const char *rank(struct list *list, const struct weights *w, const struct npz *record, const struct vector *v, size_t H)
{
    struct part part;
    double *buffer = malloc((w->width[0] + w->width[1] + w->width[2]) * sizeof *buffer);
    const char *wrong = part_make(&part, v, w, record) && buffer ? NULL : "not enough memory for the record";

    for (int storing = 0; storing < STORINGS && !wrong; storing++) {
        struct reading r = { .batch_first = v->in.batch_first, .layout.storing = (enum storing)storing };
        if (w->separate && !(storing == STORED_ROWS ? w->rows : storing == STORED_BLOCKS && w->columns))
            continue;
        multiply(&part, w, (enum storing)storing, buffer);
        for (r.H = H ? H : 1; r.H <= (H ? H : w->E) && !wrong; r.H++)
            if (w->E % r.H == 0)
                wrong = try_heads(list, &part, w, r);
    }
    part_free(&part);
    free(buffer);
    return wrong;
}

const char *order_rank(struct reading **all, size_t *count, const struct weights *w, const struct npz *record, size_t H, char error[600])
{
    const struct npz_array *given = npz_get(record, "batch_first"), *output = npz_get(record, "output");
    struct list list = { 0 };
    char first[600] = "";
    const char *wrong = NULL;

    for (int batch_first = 1; batch_first >= 0 && !wrong; batch_first--) {
        struct reading blank = { .layout = layout_pytorch, .H = H ? H : 1, .batch_first = batch_first };
        struct vector v;
        if (given && given->size && (npz_value(given, 0) != 0) != batch_first)
            continue;
        if (reading_vector(&v, w, record, &blank, 1, error)) {
            if (!first[0])
                memcpy(first, error, sizeof first);
            continue;
        }
        const struct npz_array *query = npz_get(&v.file, "query");
        if (!output || output->ndim != query->ndim || memcmp(output->shape, query->shape, sizeof output->shape))
            wrong = say(error, 600, "output: %s in the record, wanted the shape of query, %s", output ? "another shape" : "missing",
                        npz_shape_text((char[128]){ 0 }, query));
        else if (!output->size)
            wrong = say(error, 600, "output: found nothing in it");
        else if ((wrong = rank(&list, w, record, &v, H)))
            wrong = say(error, 600, "%s", wrong);
        int batched = v.in.batched;
        vector_free(&v);
        if (!batched)
            break;    /* both ways are one */
    }
    if (!wrong && !list.count)
        wrong = say(error, 600, "%s", first[0] ? first : "no order of the weights takes inputs as wide as query, key and value of the record");
    if (!wrong)
        qsort(list.reading, list.count, sizeof *list.reading, by_rms);
    *all = list.reading;
    *count = list.count;
    return wrong;
}
