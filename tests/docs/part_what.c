/* SPDX-License-Identifier: MIT */
/*
 * core/printable with something changed, right and with a mistake side by side:
 *
 *   what: [attn_mask=..x/x..] [key_padding_mask=..x] [bias_k=1,0,0,1]
 *         [bias_v=...] [zero_attn] [fault=NAME] show=STAGE,STAGE
 *
 * A mask is rows between slashes: x and . of a bool mask, or numbers between
 * commas of a float mask.
 *
 * Letters: k stage, r row of the print, m element.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weave.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)
enum { ROOM = 64 };

struct what {
    struct mha_in in;
    unsigned char flags[2][ROOM];
    double numbers[4][ROOM];
    const struct fault *fault;
    char *show;
};

/* "..x/x.." or "0,-1,2/0,0,-inf"; returns how many. */
static size_t read_mask(struct mask *mask, unsigned char *flags, double *numbers, const char *text)
{
    size_t count = 0;

    mask->ndim = 2;
    if (strspn(text, "x./") == strlen(text)) {
        for (; *text && count < ROOM; text++)
            if (*text != '/')
                flags[count++] = *text == 'x';
        mask->masked = flags;
        return count;
    }
    while (*text && count < ROOM) {
        char *end;
        numbers[count++] = strtod(text, &end);
        if (end == text)
            return 0;
        text = end + (*end == ',' || *end == '/');
    }
    mask->added = numbers;
    return count;
}

static const char *read_word(struct weave *w, struct what *x, char *word)
{
    char *value = strchr(word, '=');
    size_t wanted = 0, count = 0;

    if (value)
        *value++ = 0;
    if (!strcmp(word, "zero_attn"))
        x->in.add_zero_attn = 1;
    else if (!value)
        return weave_error(w, "what: \"%s\" is not understood", word);
    else if (!strcmp(word, "show"))
        x->show = value;
    else if (!strcmp(word, "fault")) {
        if (!(x->fault = fault_named(value)))
            return weave_error(w, "faults.txt has no \"%s\"", value);
    } else if (!strcmp(word, "attn_mask")) {
        wanted = x->in.L * x->in.S;
        count = read_mask(&x->in.attn_mask, x->flags[0], x->numbers[0], value);
    } else if (!strcmp(word, "key_padding_mask")) {
        wanted = x->in.N * x->in.S;
        count = read_mask(&x->in.key_padding_mask, x->flags[1], x->numbers[1], value);
    } else if (!strcmp(word, "bias_k") || !strcmp(word, "bias_v")) {
        struct mask row = { 0 };
        int v = word[5] == 'v';
        wanted = x->in.E;
        count = read_mask(&row, x->flags[0], x->numbers[2 + v], value);
        *(v ? &x->in.bias_v : &x->in.bias_k) = x->numbers[2 + v];
    } else
        return weave_error(w, "what: \"%s\" is not understood", word);
    return count == wanted ? NULL : weave_error(w, "what: %s has %zu numbers, wanted %zu", word, count, wanted);
}

/* ---- print ---- */

/* -0 and NaN without their signs, which mean nothing. */
static void cell(FILE *f, double x)
{
    fprintf(f, " %9.4g", isnan(x) ? (double)NAN : x == 0 ? 0 : x);
}

static void print_row(FILE *f, const struct array *a, size_t r, const char *label)
{
    size_t C = a->shape[a->ndim - 1];

    fprintf(f, "%-7s", label);
    FOR(m, C) cell(f, a->v[r * C + m]);
}

static void print_stage(FILE *f, const struct array *right, const struct array *wrong, const char *mistake)
{
    size_t C = right->shape[right->ndim - 1], R = C ? right->size / C : 0;
    int width = (int)(7 + 10 * C);

    if (wrong)
        fprintf(f, "%-*s    with %s\n", width, right->name, mistake);
    else
        fprintf(f, "%s\n", right->name);
    FOR(r, R) {
        size_t T = right->ndim > 1 ? right->shape[right->ndim - 2] : 1;
        char label[16] = "";
        if (right->ndim == 4 && r % T == 0)
            snprintf(label, sizeof label, "[%d,%d]", (int)(r / T / right->shape[1] % 100), (int)(r / T % right->shape[1] % 100));
        print_row(f, right, r, label);
        if (wrong) {
            int differs = 0;
            FOR(m, C) differs |= !(right->v[r * C + m] == wrong->v[r * C + m]) && !(isnan(right->v[r * C + m]) && isnan(wrong->v[r * C + m]));
            fputs(differs ? " |  " : "    ", f);
            if (differs)
                print_row(f, wrong, r, "");
            else
                fputs("       the same", f);
        }
        fputs("\n", f);
    }
}

static const char *show(struct weave *w, const struct what *x, struct array right[STAGES], struct array wrong[STAGES])
{
    mha_forward(right, &x->in);
    if (x->fault)
        x->fault->forward(wrong, &x->in);
    fputs("```text\n", w->out);
    for (char *name = x->show, *next; name; name = next) {
        int found = 0;
        next = strchr(name, ',');
        if (next)
            *next++ = 0;
        FOR(k, STAGES) if (right[k].v && !strcmp(right[k].name, name)) {
            print_stage(w->out, &right[k], x->fault ? &wrong[k] : NULL, x->fault ? x->fault->name : "");
            found = 1;
        }
        if (!found)
            return weave_error(w, "what: no stage %s", name);
    }
    fputs("```\n", w->out);
    return NULL;
}

const char *part_what(struct weave *w, char *args)
{
    struct what x = { .fault = NULL };
    struct array right[STAGES], wrong[STAGES];
    struct vector v;
    char *word;
    const char *error = weave_vector(w, &v, "core/printable");

    if (error)
        return error;
    x.in = v.in;
    while (!error && (word = weave_word(&args)))
        error = read_word(w, &x, word);
    if (!error && !x.show)
        error = "what: nothing to show";
    if (!error && !(error = mha_alloc(right, &x.in))) {
        if (!(error = mha_alloc(wrong, &x.in))) {
            error = show(w, &x, right, wrong);
            mha_free(wrong);
        }
        mha_free(right);
    }
    vector_free(&v);
    return error;
}
