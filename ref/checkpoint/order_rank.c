/* SPDX-License-Identifier: MIT */
/*
 * All readings, ranked by their error on a part of the record.
 *
 * Whatever the order and the number of heads, a reading picks its q, k and v
 * out of the same products of an input with the outputs of the file. They are
 * worked out once for each way of storing; a reading gathers its heads from
 * them and takes the remaining steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../store/grow.h"
#include "order.h"

enum { ITEMS = 2, QUERIES = 8, KEYS = 4096, CHANNELS = 48 };    /* the part of the record */
enum { READINGS_AT_MOST = 1 << 14, READINGS_KEPT = 1 << 10 };
#define WORK_AT_MOST(depth) ((depth) < 2 ? 3e9 : 3e8)    /* multiplications for all readings of one depth */

/* ---- lists of steps ---- */

struct steps_list {
    struct steps *steps;
    size_t count, room;
};

static int add_steps(struct steps_list *list, struct steps s)
{
    struct steps *steps = grow(list->steps, &list->room, list->count, sizeof *steps);

    if (!steps)
        return 0;
    list->steps = steps;
    list->steps[list->count++] = s;
    return 1;
}

/* Add the rotations that a number of channels of a head allows, to what s does. */
static int add_rotations(struct steps_list *list, struct steps s, const struct io *io, size_t D, const struct config *config)
{
    const double bases[] = { config ? config->rope_theta[0] : 0, config ? config->rope_theta[1] : 0, 10000, 500000, 1000000 };
    const size_t widths[] = { D, D / 2, D / 4, 32, 64 };
    int ok = 1;

    for (s.position = POSITION_HALVES; s.position <= POSITION_PAIRS; s.position++) {    /* of 2 channels both are one */
        for (size_t k = 0; io->cos && k < 2; k++) {
            s.rotary = k ? 2 * io->R : io->R;
            s.base = 0;
            if (s.rotary <= D && s.rotary % 2 == 0)
                ok = ok && add_steps(list, s);
        }
        for (size_t k = 0; !io->cos && k < sizeof widths / sizeof *widths; k++)
            for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
                s.rotary = widths[k];
                s.base = bases[b];
                int new_width = s.rotary >= (s.position == POSITION_PAIRS ? 3 : 2) && s.rotary % 2 == 0 && s.rotary <= D && (k < 3 || (s.rotary != D && s.rotary != D / 2 && s.rotary != D / 4));
                int new_base = bases[b] > 1 && (b < 1 || bases[b] != bases[0]) && (b < 2 || bases[b] != bases[1]);
                if (s.rotary == 2)    /* one angle, whatever the base */
                    new_base = b == 2;
                if (new_width && new_base)
                    ok = ok && add_steps(list, s);
            }
    }
    return ok;
}

/* Return the number of the last step that s has beside the plain ones, in the order in which they are added; 0: none. */
static int last_step(const struct steps *s)
{
    return s->no_out_bias ? 6 : s->residual ? 5 : s->pre_norm ? 4 : s->position != POSITION_NONE ? 3 : s->mask != MASK_RECORDED ? 2 : s->scale != SCALE_ROOT_D;
}

/* Add the masks that a record without them may have had. */
static int add_masks(struct steps_list *list, struct steps s, const struct io *io)
{
    int ok = 1;

    for (int k = 1; k < MASKS; k++) {
        int possible = k == MASK_CAUSAL ? io->L > 1 : k == MASK_INVERTED ? io->mask || io->padding : !io->padding && io->S <= 256;
        s.mask = (enum masking)k;
        ok = ok && (!possible || add_steps(list, s));
    }
    return ok;
}

static int add_pre_norms(struct steps_list *list, struct steps s, const struct weights *w, const struct config *config)
{
    const double eps[] = { config ? config->norm_eps : 0, 1e-5, 1e-6, 1e-12 };
    int ok = 1;

    for (int k = 1; k <= 2 * w->norms; k++)
        for (size_t e = 0; e < sizeof eps / sizeof *eps; e++) {
            s.pre_norm = k;
            s.eps = eps[e];
            if (eps[e] > 0 && (!e || eps[e] != eps[0]))
                ok = ok && add_steps(list, s);
        }
    return ok;
}

/* Add everything that one more step than those of s can do, behind the last one
 * of s, so that each set of steps is met once. D: channels of a head. */
static int add_one_step(struct steps_list *list, struct steps s, const struct io *io, const struct weights *w, size_t D, const struct config *config)
{
    int last = last_step(&s), ok = 1;
    struct steps t = s;

    for (int k = 1; k < SCALES && last < 1; k++) {
        t.scale = (enum scale)k;
        ok = ok && add_steps(list, t);
    }
    if (last < 2)
        ok = ok && add_masks(list, s, io);
    t = s;
    for (int k = POSITION_ALIBI; k <= POSITION_ALIBI_BOTH && last < 3; k++) {
        t.position = (enum position)k;
        if (k == POSITION_ALIBI || s.mask != MASK_CAUSAL)    /* under a causal mask both are one */
            ok = ok && add_steps(list, t);
    }
    if (last < 3 && D > 1)
        ok = ok && add_rotations(list, s, io, D, config);
    if (last < 4)
        ok = ok && add_pre_norms(list, s, w, config);
    t = s;
    t.residual = 1;
    if (last < 5 && (io->residual || io->width[0] == io->O))
        ok = ok && add_steps(list, t);
    t = s;
    t.no_out_bias = 1;
    if (last < 6 && w->out_bias)
        ok = ok && add_steps(list, t);
    return ok;
}

/* The norms of q and k are of one head of D channels, or of all heads. */
static int head_norms_fit(const struct weights *w, size_t D)
{
    return (!w->q_norm || w->q_norm_size == D || w->q_norm_size == w->rows[0])
        && (!w->k_norm || w->k_norm_size == D || w->k_norm_size == w->rows[1]);
}

/* The steps that the tensors and the record ask for: norms of q and k, cos and sin. */
static int add_first_steps(struct steps_list *list, const struct io *io, const struct weights *w, size_t D, const struct config *config)
{
    struct steps_list normed = { 0 };
    const double eps[] = { config ? config->norm_eps : 0, 1e-6, 1e-5 };
    int ok = add_steps(&normed, (struct steps){ 0 });

    for (int norm = 1; norm < HEAD_NORMS && (w->q_norm || w->k_norm) && head_norms_fit(w, D); norm++)
        for (int late = 0; late < 2; late++)
            for (size_t e = 0; e < 3; e++) {
                struct steps s = { .norm = (enum head_norm)norm, .norm_late = late, .eps = eps[e] };
                if (eps[e] > 0 && (!e || eps[e] != eps[0]))
                    ok = ok && add_steps(&normed, s);
            }
    for (size_t k = 0; k < normed.count && ok; k++) {
        ok = add_steps(list, normed.steps[k]);
        if (io->cos && D > 1)
            ok = ok && add_rotations(list, normed.steps[k], io, D, config);
    }
    free(normed.steps);
    return ok;
}

/* Return how many steps differ from the plain ones, without a causal mask. */
static int causes_of(const struct steps *s)
{
    return (s->scale != SCALE_ROOT_D) + (s->mask > MASK_CAUSAL) + (s->position != POSITION_NONE) + (s->pre_norm != 0) + s->residual + s->no_out_bias;
}

/* List the steps of a depth: 0 the first ones, then with one or two more, and at 3 with a causal mask besides. */
static int list_steps(struct steps_list *list, const struct io *io, const struct weights *w, size_t D, const struct config *config, int depth)
{
    struct steps_list last = { 0 }, next;
    int ok = add_first_steps(&last, io, w, D, config);

    for (int k = 0; k < depth && ok; k++, last = next) {
        next = (struct steps_list){ 0 };
        for (size_t m = 0; m < last.count && ok; m++) {
            struct steps_list more = { 0 };
            ok = add_one_step(&more, last.steps[m], io, w, D, config);
            for (size_t x = 0; x < more.count && ok; x++)
                if (k < 2 || more.steps[x].mask == MASK_CAUSAL)
                    ok = add_steps(&next, more.steps[x]);
            free(more.steps);
        }
        free(last.steps);
    }
    *list = last;
    return ok;
}

/* ---- errors ---- */

struct part {
    struct products products;
    size_t channel[CHANNELS], channels;
    double *want, *out;         /* (N,L,channels) */
    double size;                /* rms of want */
};

static double rms_error(const double *a, const double *b, size_t count)
{
    double squares = 0;
    size_t finite = 0;

    for (size_t m = 0; m < count; m++)
        if (isfinite(a[m]) && isfinite(b[m])) {
            squares += (a[m] - b[m]) * (a[m] - b[m]);
            finite++;
        }
    return finite ? sqrt(squares / (double)finite) : INFINITY;
}

/* Find the lengths of the items with which a padding fits best. */
static int find_lengths(size_t *lengths, struct part *part, const struct io *io, const struct weights *w, const struct reading *r)
{
    size_t N = part->products.N, size = part->products.L * part->channels, tried[ITEMS];
    double best[ITEMS];

    for (size_t length = 1; length <= io->S; length++) {
        for (size_t n = 0; n < N; n++)
            tried[n] = length;
        if (!steps_run(part->out, &part->products, io, w, r, &(struct output_part){ part->channel, part->channels, tried }, NULL))
            return 0;
        for (size_t n = 0; n < N; n++) {
            double error = rms_error(part->out + n * size, part->want + n * size, size);
            if (length == 1 || error < best[n]) {
                best[n] = error;
                lengths[n] = length;
            }
        }
    }
    return 1;
}

static int measure(struct reading *r, struct part *part, const struct io *io, const struct weights *w)
{
    size_t count = part->products.N * part->products.L * part->channels, lengths[ITEMS];
    int padded = r->steps.mask >= MASK_PADDED;

    if (padded && !find_lengths(lengths, part, io, w, r))
        return 0;
    if (!steps_run(part->out, &part->products, io, w, r, &(struct output_part){ part->channel, part->channels, padded ? lengths : NULL }, NULL))
        return 0;
    r->rms = rms_error(part->out, part->want, count) / (part->size > 0 ? part->size : 1);
    return 1;
}

static int part_make(struct part *part, const struct io *io, const struct weights *w, const struct reading *r)
{
    size_t N = io->N < ITEMS ? io->N : io->S > KEYS / ITEMS ? 1 : ITEMS, L = io->L < QUERIES ? io->L : QUERIES;
    double squares = 0;

    *part = (struct part){ .channels = io->O < CHANNELS ? io->O : CHANNELS };
    if (!products_make(&part->products, io, w, r, N, L, NULL))
        return 0;
    part->want = malloc(N * L * part->channels * sizeof *part->want);
    part->out = malloc(N * L * part->channels * sizeof *part->out);
    if (!part->want || !part->out)
        return 0;
    for (size_t k = 0; k < part->channels; k++)
        part->channel[k] = k * io->O / part->channels;
    for (size_t m = 0; m < N * L * part->channels; m++) {
        size_t row = m / part->channels, n = row / L, i = row % L;
        part->want[m] = io->output[(n * io->L + i) * io->O + part->channel[m % part->channels]];
        squares += isfinite(part->want[m]) ? part->want[m] * part->want[m] : 0;
    }
    part->size = sqrt(squares / (double)(N * L * part->channels));
    return 1;
}

static void part_free(struct part *part)
{
    products_free(&part->products);
    free(part->want);
    free(part->out);
}

/* ---- readings ---- */

static int by_rms(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;

    if (x->rms != y->rms)
        return (x->rms > y->rms) - (x->rms < y->rms);
    return causes_of(&x->steps) - causes_of(&y->steps);
}

/* Append a reading; of very many only the best are kept. */
static int append(struct ranking *all, const struct reading *r)
{
    if (all->count == READINGS_AT_MOST) {
        qsort(all->reading, all->count, sizeof *all->reading, by_rms);
        all->count = READINGS_KEPT;
    }
    struct reading *reading = grow(all->reading, &all->room, all->count, sizeof *reading);
    if (!reading)
        return 0;
    all->reading = reading;
    all->reading[all->count++] = *r;
    return 1;
}

/* Add the readings of one storing with these heads: orders, portions, both directions of the output projection. */
static int add_layouts(struct ranking *all, const struct io *io, const struct weights *w, struct reading r)
{
    int ok = 1;

    for (int portions = 0; portions < PORTIONS; portions++)
        for (size_t shards = portions == PORTIONS_SHARDS ? 2 : 1; shards < (portions == PORTIONS_SHARDS ? r.G : 2); shards++) {
            r.layout.portions = (enum portions)portions;
            r.layout.shards = portions == PORTIONS_SHARDS ? shards : 0;
            int blocks = r.layout.storing > STORED_COLUMNS;
            if (portions != PORTIONS_WHOLE && (w->separate || blocks || (portions == PORTIONS_HEAD && r.G == 1) || (portions == PORTIONS_ELEMENT && r.G == w->rows[0])
                                               || (portions == PORTIONS_SHARDS && r.G % shards)))
                continue;    /* the same as another one, or none */
            for (int order = 0; order < LAYOUT_ORDERS; order++) {
                layout_order(r.layout.slot, order);
                if (!reading_fits(w, &r, io->width))
                    continue;
                for (r.out_transposed = 0; r.out_transposed < 2; r.out_transposed++)
                    if (w->out_square || r.out_transposed == w->out_transposed)
                        ok = ok && append(all, &r);
            }
        }
    return ok;
}

/* Return whether a storing is possible; of a packed weight whose shape tells nothing all are. */
static int storing_possible(const struct weights *w, int storing)
{
    if (w->separate)
        return storing == STORED_ROWS ? w->rows_possible : storing == STORED_BLOCKS && w->columns_possible;
    return storing <= STORED_COLUMNS || (w->rows[0] == w->rows[1] && w->rows[0] == w->inputs[0]);
}

/* Add all readings of the record with batch first or second. */
static int add_readings(struct ranking *all, const struct io *io, const struct weights *w, const struct layer *layer, size_t H, int batch_first)
{
    size_t A = w->rows[0], K = w->rows[1];
    int ok = 1;

    for (int storing = 0; storing < STORINGS; storing++)
        for (size_t heads = 1; heads <= A && storing_possible(w, storing); heads++) {
            struct reading r = { .layout.storing = (enum storing)storing, .H = heads, .batch_first = batch_first };
            if (A % heads || (H && heads != H) || (!H && layer->H && heads != layer->H) || K % (A / heads))
                continue;
            r.G = K / (A / heads);
            if (heads % r.G == 0)
                ok = ok && add_layouts(all, io, w, r);
        }
    return ok;
}

/* Return whether a reading has the layout that the names of the layer say. */
static int is_by_names(const struct reading *r, const struct layer *layer, const struct weights *w)
{
    const struct outputs o = weights_outputs(w, r);
    struct layout named;

    if (r->out_transposed != w->out_transposed)
        return 0;
    if (w->separate)
        return r->layout.storing == layer->storing && r->layout.slot[0] == 0 && r->layout.slot[1] == 1;
    if (!layer->layout[0] || layout_parse(&named, layer->layout))
        return 1;
    return !memcmp(named.slot, r->layout.slot, sizeof named.slot) && named.storing == r->layout.storing
           && layout_portions(&named, &o) == layout_portions(&r->layout, &o);
}

/* Measure every plain reading with every list of steps. Readings that need the same products come one after the other. */
static int measure_all(struct ranking *all, const struct ranking *plain, const struct io *io, const struct search *s, int depth, const struct steps *only)
{
    const struct weights *w = s->w;
    struct part part = { 0 };
    struct reading made = { .layout.storing = STORINGS };
    double cost = (double)io->S * (double)w->rows[0] * ITEMS * QUERIES * 4 + (double)w->rows[0] * ITEMS * QUERIES * CHANNELS;
    size_t D_last = SIZE_MAX;
    struct steps_list steps = { 0 };
    int ok = 1;

    for (size_t k = 0; k < plain->count && ok; k++) {
        struct reading r = plain->reading[k];
        size_t D = w->rows[0] / r.H;
        if (D != D_last) {
            free(steps.steps);
            steps = (struct steps_list){ 0 };
            ok = only ? add_steps(&steps, *only) : list_steps(&steps, io, w, D, s->config, depth);
            D_last = D;
        }
        if (only && only->position >= POSITION_HALVES && only->rotary > D)
            continue;
        int large = depth && !only && cost * (double)steps.count * (double)plain->count > WORK_AT_MOST(depth);
        all->names_only |= large;
        if (large && !is_by_names(&r, s->layer, w))
            continue;
        for (size_t m = 0; m < steps.count && ok; m++) {
            r.steps = steps.steps[m];
            if (made.layout.storing != r.layout.storing || made.steps.pre_norm != r.steps.pre_norm || made.steps.eps != r.steps.eps) {
                if (!r.steps.pre_norm && made.layout.storing == r.layout.storing && !made.steps.pre_norm)
                    ;    /* eps does not matter */
                else {
                    part_free(&part);
                    ok = part_make(&part, io, w, &r);
                }
                made = r;
            }
            all->tried++;
            ok = ok && measure(&r, &part, io, w);
            if (ok && isfinite(r.rms))
                ok = append(all, &r);
        }
    }
    part_free(&part);
    free(steps.steps);
    return ok;
}

const char *order_rank(struct ranking *all, const struct search *s, int depth, const struct steps *only, char error[600])
{
    const struct weights *w = s->w;
    const struct npz *record = s->record;
    const struct npz_array *given = npz_get(record, "batch_first");
    char first[600] = "";
    const char *wrong = NULL;

    *all = (struct ranking){ 0 };
    for (int batch_first = 1; batch_first >= 0 && !wrong; batch_first--) {
        struct ranking plain = { 0 };
        struct io io;
        if (given && given->size && (npz_value(given, 0) != 0) != batch_first)
            continue;
        if (io_read(&io, record, batch_first, w, error)) {
            if (!first[0])
                memcpy(first, error, sizeof first);
            continue;
        }
        if (products_size(&io, w) > PRODUCTS_AT_MOST)
            wrong = say(error, 600, "the record is too long: L, S and E multiply to more than 2^27 numbers; record fewer rows");
        else if (!add_readings(&plain, &io, w, s->layer, s->H, batch_first) || !measure_all(all, &plain, &io, s, depth, only))
            wrong = say(error, 600, "not enough memory for the readings");
        int batched = io.batched;
        free(plain.reading);
        io_free(&io);
        if (!batched)
            break;    /* both ways are one */
    }
    if (!wrong && !all->count)
        wrong = say(error, 600, "%s", first[0] ? first : "no order of the weights takes inputs as wide as query, key and value of the record");
    if (!wrong)
        qsort(all->reading, all->count, sizeof *all->reading, by_rms);
    return wrong;
}
