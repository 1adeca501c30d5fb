/* SPDX-License-Identifier: MIT */
/*
 * Is every option of the layer in some vector beside every other? Counted from
 * the vectors.
 *
 *     pairs check FILE VECTORS    every possible pair is there, and FILE is what page would write
 *     pairs page FILE VECTORS     write docs/pairs.md
 *
 * Letters: f g factors, p q levels of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/corpus.h"
#include "corpus/vector.h"

#define EACH(i, count) for (int i = 0; i < (int)(count); i++)

enum { KDIM, VDIM, BRANCH, ATTN, CAUSAL, PADDING, BIAS_KV, ZERO_ATTN, LAYOUT, BIAS, ITEMS, HEADS, QUERIES, KEYS, CHANNELS, FACTORS };
enum { MOST = 5 };

static const struct { const char *name, *level[MOST]; } factors[FACTORS] = {
    [KDIM] = { "kdim", { "= E", "< E", "> E" } },
    [VDIM] = { "vdim", { "= E", "< E", "> E" } },
    [BRANCH] = { "arguments", { "query is key is value", "key is value", "all different" } },
    [ATTN] = { "attn_mask", { "none", "bool (L,S)", "float (L,S)", "bool (N\\*H,L,S)", "float (N\\*H,L,S)" } },
    [CAUSAL] = { "is_causal", { "0", "1" } },
    [PADDING] = { "key_padding_mask", { "none", "bool", "float" } },
    [BIAS_KV] = { "bias_k, bias_v", { "no", "yes" } },
    [ZERO_ATTN] = { "add_zero_attn", { "0", "1" } },
    [LAYOUT] = { "layout", { "(N,L,E)", "(L,N,E)", "unbatched" } },
    [BIAS] = { "bias", { "no", "yes" } },
    [ITEMS] = { "N", { "1", "2 to 4", "> 4" } },
    [HEADS] = { "H", { "1", "2 to 4", "> 4" } },
    [QUERIES] = { "L", { "1", "2 to 16", "17 to 64", "> 64" } },
    [KEYS] = { "S", { "1", "2 to 16", "17 to 64", "> 64" } },
    [CHANNELS] = { "D", { "1", "2 to 8", "9 to 64", "> 64" } },
};

/* The vectors that have a pair, f < g; [0] of first is the name of the first one. */
static struct { size_t count; char first[CORPUS_NAME]; } found[FACTORS][MOST][FACTORS][MOST];

static int failed(const char *subject, const char *what)
{
    fprintf(stderr, "pairs: %s: %s\n", subject, what);
    return 2;
}

static int width(size_t w, size_t E)
{
    return w == E ? 0 : w < E ? 1 : 2;
}

/* 0 for 1, then one more for each end that it is beyond */
static int class_of(size_t size, size_t end, size_t end2)
{
    return (size > 1) + (size > end) + (end2 && size > end2);
}

static int mask_level(const struct mask *m)
{
    return m->masked ? 1 : m->added ? 2 : 0;
}

static void levels_of(int level[FACTORS], const struct vector *v, const char *flags)
{
    const struct mha_in *in = &v->in;
    int attn = mask_level(&in->attn_mask);

    level[KDIM] = width(in->Ek, in->E);
    level[VDIM] = width(in->Ev, in->E);
    level[BRANCH] = strncmp(flags, "self", 4) == 0 ? 0 : strncmp(flags, "encdec", 6) == 0 ? 1 : 2;
    level[ATTN] = attn && in->attn_mask.ndim == 3 ? attn + 2 : attn;
    level[CAUSAL] = v->is_causal;
    level[PADDING] = mask_level(&in->key_padding_mask);
    level[BIAS_KV] = in->bias_k != NULL;
    level[ZERO_ATTN] = in->add_zero_attn;
    level[LAYOUT] = !in->batched ? 2 : !in->batch_first;
    level[BIAS] = in->in_proj_bias != NULL;
    level[ITEMS] = class_of(in->N, 4, 0);
    level[HEADS] = class_of(in->H, 4, 0);
    level[QUERIES] = class_of(in->L, 16, 64);
    level[KEYS] = class_of(in->S, 16, 64);
    level[CHANNELS] = class_of(in->E / in->H, 8, 64);
}

/* Beside a lone key, whose weight is 1, neither masks nor the key's projection
 * matter: they count with S alone. */
static int hidden(const int level[FACTORS], int f, int g)
{
    int alone = level[KEYS] == 0 && !level[BIAS_KV] && !level[ZERO_ATTN] && f != KEYS && g != KEYS;
    int x = f == KDIM || f == ATTN || f == CAUSAL || f == PADDING, y = g == KDIM || g == ATTN || g == CAUSAL || g == PADDING;

    return alone && (x || y);
}

static void count_pairs(const int level[FACTORS], const char *name)
{
    EACH(f, FACTORS) for (int g = f + 1; g < FACTORS; g++) {
        if (hidden(level, f, g))
            continue;
        if (!found[f][level[f]][g][level[g]].count++)
            snprintf(found[f][level[f]][g][level[g]].first, CORPUS_NAME, "%s", name);
    }
}

/* Why no layer has this pair; NULL if one may have it. */
static const char *impossible(int f, int p, int g, int q)
{
    if (f == ATTN && p == 0 && g == CAUSAL && q == 1)
        return "is_causal is a hint about attn_mask";
    if (f == LAYOUT && p == 2 && g == ITEMS && q > 0)
        return "unbatched arguments have no N";
    if ((f == KDIM || f == VDIM) && p > 0 && g == BRANCH && q == 0)
        return "one argument has one width, E";
    return NULL;
}

/* Read every vector that has numbers. NULL, or an error message. */
static const char *read_all(struct corpus *corpus, const char *dir)
{
    struct choice choice;
    const char *error;

    if ((error = corpus_open(corpus, dir)) || (error = corpus_choose(&choice, corpus, 0, NULL)))
        return error;
    for (size_t c = 0; !error && c < choice.count; c++) {
        static struct vector v;
        int level[FACTORS];
        if ((error = vector_read(&v, choice.chosen[c].path, choice.chosen[c].name)))
            break;
        if (v.in.N && v.in.L && v.in.S) {
            levels_of(level, &v, choice.chosen[c].vector->flags);
            count_pairs(level, v.name);
        }
        vector_free(&v);
    }
    choice_free(&choice);
    return error;
}

/* One table for each factor: its levels against those of all behind it. Returns how many pairs are missing. */
static size_t write_page(FILE *out, const struct corpus *corpus)
{
    size_t possible = 0, missing = 0;

    fprintf(out, "<!-- Written by the target docs_pairs (tests/pairs/pairs.c) from the vectors. Do not edit. -->\n\n# Pairs of options\n\n"
                 "How many of the %zu vectors of corpus %s have an option beside another one. Mistakes often need two options at once, so every\n"
                 "possible pair is in some vector; a dash is a pair that no layer can have. Beside a lone key, whose weight is 1, masks and kdim\n"
                 "are not counted. The vectors of `pairs/` are those that no other vector made unnecessary.\n", corpus->count, corpus->version);
    for (int g = 1; g < FACTORS; g++) {
        fprintf(out, "\n## %s\n\n| |", factors[g].name);
        EACH(q, MOST) if (factors[g].level[q]) fprintf(out, " %s |", factors[g].level[q]);
        fprintf(out, "\n|---|");
        EACH(q, MOST) if (factors[g].level[q]) fprintf(out, "---|");
        fprintf(out, "\n");
        EACH(f, g) EACH(p, MOST) if (factors[f].level[p]) {
            fprintf(out, "| %s %s |", factors[f].name, factors[f].level[p]);
            EACH(q, MOST) if (factors[g].level[q]) {
                size_t count = found[f][p][g][q].count;
                if (impossible(f, p, g, q)) {
                    fprintf(out, " - |");
                    continue;
                }
                possible++;
                missing += !count;
                fprintf(out, count ? " %zu |" : " **%zu** |", count);
            }
            fprintf(out, "\n");
        }
    }
    fprintf(out, "\n## Impossible pairs\n\n| pair | why |\n|---|---|\n");
    EACH(f, FACTORS) for (int g = f + 1; g < FACTORS; g++) EACH(p, MOST) EACH(q, MOST)
        if (factors[f].level[p] && factors[g].level[q] && impossible(f, p, g, q))
            fprintf(out, "| %s %s, %s %s | %s |\n", factors[f].name, factors[f].level[p], factors[g].name, factors[g].level[q], impossible(f, p, g, q));
    fprintf(out, "\n%zu pairs are possible, %zu are missing.\n", possible, missing);
    return missing;
}

static int differs(FILE *wanted, const char *path)
{
    FILE *is = fopen(path, "rb");
    int a = 0, b = 0;

    rewind(wanted);
    while (is && a == b && a != EOF) {
        a = getc(wanted);
        b = getc(is);
    }
    if (is)
        fclose(is);
    if (is && a == b)
        return 0;
    printf("%s is stale: make it again with the target docs_pairs\n", path);
    return 1;
}

int main(int argc, char **argv)
{
    int page = argc == 4 && !strcmp(argv[1], "page");
    struct corpus corpus;
    const char *error;

    if (!page && (argc != 4 || strcmp(argv[1], "check") != 0))
        return failed("usage", "check FILE VECTORS | page FILE VECTORS");
    if ((error = read_all(&corpus, argv[3])))
        return failed(argv[3], error);
    FILE *f = page ? fopen(argv[2], "wb") : tmpfile();
    if (!f)
        return failed(argv[2], "cannot be written");
    size_t missing = write_page(f, &corpus);
    int wrong = missing != 0 || (!page && differs(f, argv[2]));
    if (missing)
        printf("%zu pairs of options are in no vector\n", missing);
    if (ferror(f) | fclose(f))
        return failed(argv[2], "cannot be written");
    corpus_close(&corpus);
    return wrong;
}
