/* SPDX-License-Identifier: MIT */
/*
 * Flat memory, drawn. The recipe (or a mistake) is run on arrays that hold
 * their own offsets, behind projections that change nothing: what comes out
 * says where each number went. Nothing is drawn by hand.
 *
 * Letters: m place in memory, e channel, h head, i row, r row of a weight.
 */
#include <math.h>
#include <string.h>

#include "weave.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)
enum { E = 4, H = 2, D = 2, T = 3, N = 2 };

/* Self-made arguments: every number is its offset, the projections are the identity. */
struct plain {
    double in_proj[3 * E * E], out[E * E], rows[N * T * E], mask[T * T];
    struct mha_in in;
};

static void plain_make(struct plain *p, size_t items)
{
    memset(p, 0, sizeof *p);
    FOR(e, E) {
        p->out[e * E + e] = 1;
        FOR(b, 3) p->in_proj[(b * E + e) * E + e] = 1;
    }
    FOR(m, N * T * E) p->rows[m] = (double)m;
    FOR(i, T) FOR(j, T) p->mask[i * T + j] = i == j ? 0 : -INFINITY;    /* query i sees key i alone */
    p->in = (struct mha_in){
        .N = items, .L = T, .S = T, .E = E, .Ek = E, .Ev = E, .H = H, .batched = 1, .batch_first = 1,
        .query = p->rows, .key = p->rows, .value = p->rows, .in_proj_weight = p->in_proj, .out_proj_weight = p->out,
        .attn_mask = { .ndim = 2, .added = p->mask },
    };
}

static void line(FILE *f, const char *title, char cell[][8], size_t count, size_t group)
{
    fprintf(f, "%-24s", title);
    FOR(m, count) fprintf(f, "%s%4s", m && m % group == 0 ? "  |" : "", cell[m]);
    fputs("\n", f);
}

/* ---- rows of in_proj_weight: whose they are ---- */

static void owners(char cell[][8], struct array t[STAGES])
{
    FOR(r, 3 * E) cell[r][0] = 0;
    FOR(b, 3) FOR(e, E) {
        size_t r = (size_t)t[Q_WEIGHT + b].v[e * E] / E;
        char letter[2] = { "qkv"[b], 0 };
        if (strlen(cell[r]) < 3)
            strcat(cell[r], letter);
        if (strlen(cell[r]) == 1)
            cell[r][1] = (char)('0' + e), cell[r][2] = 0;
        else if (cell[r][1] >= '0' && cell[r][1] <= '9')    /* used twice: letters alone */
            cell[r][1] = cell[r][2], cell[r][2] = 0;
    }
    FOR(r, 3 * E) if (!cell[r][0]) strcpy(cell[r], "-");
}

static void draw_rows(FILE *f, const char *title, const struct fault *x, struct array t[STAGES])
{
    struct plain p;
    char cell[3 * E][8];

    plain_make(&p, 1);
    FOR(m, 3 * E * E) p.in_proj[m] = (double)m;
    x->forward(t, &p.in);
    owners(cell, t);
    line(f, title, cell, 3 * E, E);
}

/* ---- heads: which head gets each number ---- */

static void head_and_row(char cell[8], size_t m)    /* of place m in (H,T,D) */
{
    snprintf(cell, 8, "%c%c", (char)('A' + m / (T * D)), (char)('0' + m / D % T));
}

static void draw_heads(FILE *f, const char *title, const struct fault *x, struct array t[STAGES])
{
    struct plain p;
    char cell[T * E][8];

    plain_make(&p, 1);
    FOR(m, T * E) strcpy(cell[m], "-");
    x->forward(t, &p.in);
    FOR(m, T * E) if (t[K_HEADS].v[m] < T * E) head_and_row(cell[(size_t)t[K_HEADS].v[m]], m);
    line(f, title, cell, T * E, E);
}

/* ---- merge: what lies in each place of the merged rows ---- */

static void draw_merge(FILE *f, const char *title, const struct fault *x, struct array t[STAGES])
{
    struct plain p;
    char cell[T * E][8];

    plain_make(&p, 1);
    FOR(m, T * E) strcpy(cell[m], "-");
    x->forward(t, &p.in);
    FOR(m, T * E) FOR(k, T * E) if (t[V_HEADS].v[k] == t[MERGED].v[m]) head_and_row(cell[m], k);
    line(f, title, cell, T * E, E);
}

/* ---- batch: (L,N,E), one cell a row of E channels ---- */

static void draw_batch(FILE *f, const char *title, const struct fault *x, struct array t[STAGES])
{
    struct plain p;
    char cell[N * T][8];

    plain_make(&p, N);
    p.in.batch_first = 0;
    x->forward(t, &p.in);
    FOR(m, N * T) strcpy(cell[m], "-");
    FOR(m, N * T) if (t[QUERY_ROWS].v[m * E] < N * T * E) snprintf(cell[(size_t)t[QUERY_ROWS].v[m * E] / E], 8, "%c%c", (char)('a' + m / T), (char)('0' + m % T));
    line(f, title, cell, N * T, N);
}

/* ---- loop: which numbers the inner loop of y = x W^T reads, and which sums they go to ---- */

static const char *draw_loop(FILE *f)
{
    static const struct { const char *name; size_t start, stride, sum, moves; } loops[] = {
        { "w_t[c*E+e], e runs", E, 1, 0, 1 }, { "w[e*C+c], c runs", E, 1, 1, 0 }, { "w[e*C+c], e runs", 1, E, 0, 1 },
    };

    fputs("```text\ninner loop                reads the places      adds to the sums\n", f);
    FOR(k, sizeof loops / sizeof *loops) {
        fprintf(f, "%-24s", loops[k].name);
        FOR(m, E) fprintf(f, "%4d", (int)(loops[k].start + m * loops[k].stride));
        fputs("      ", f);
        FOR(m, E) fprintf(f, "%4d", (int)(loops[k].sum + m * loops[k].moves));
        fputs("\n", f);
    }
    fputs("```\n", f);
    return NULL;
}

static const struct drawing {
    const char *word, *title;
    size_t count, group, items;
    void (*draw)(FILE *f, const char *title, const struct fault *x, struct array t[STAGES]);
} drawings[] = {
    { "rows", "row of in_proj_weight", 3 * E, E, 1, draw_rows },
    { "heads", "place in k_proj", T * E, E, 1, draw_heads },
    { "merge", "place in merged", T * E, E, 1, draw_merge },
    { "batch", "row in memory", N * T, N, N, draw_batch },
};

static const char *draw(struct weave *w, const struct drawing *d, char *args, struct array t[STAGES])
{
    char cell[3 * E][8], *word;

    FOR(m, d->count) snprintf(cell[m], 8, "%d", (int)(m % 1000));
    fputs("```text\n", w->out);
    line(w->out, d->title, cell, d->count, d->group);
    d->draw(w->out, "PyTorch", &fault_none, t);
    while ((word = weave_word(&args))) {
        const struct fault *x = fault_named(word);
        if (!x)
            return weave_error(w, "faults.txt has no \"%s\"", word);
        FOR(k, STAGES) if (t[k].v) FOR(m, t[k].size) t[k].v[m] = 0;
        d->draw(w->out, x->name, x, t);
    }
    fputs("```\n", w->out);
    return NULL;
}

const char *part_layout(struct weave *w, char *args)
{
    char *word = weave_word(&args);

    if (word && !strcmp(word, "loop"))
        return draw_loop(w->out);
    FOR(k, sizeof drawings / sizeof *drawings) if (word && !strcmp(word, drawings[k].word)) {
        struct plain p;
        struct array t[STAGES];
        const char *wrong;
        plain_make(&p, drawings[k].items);
        if ((wrong = mha_alloc(t, &p.in)))
            return wrong;
        wrong = draw(w, &drawings[k], args, t);
        mha_free(t);
        return wrong;
    }
    return "wanted layout: loop, or rows, heads, merge or batch and mistakes";
}
