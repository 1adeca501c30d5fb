/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../checkpoint/order.h"
#include "../report/quote.h"
#include "command.h"
#include "opened.h"

static const char help[] =
    "usage: qkvec order [OPTION...] CHECKPOINT LAYER --record IO.npz\n\n"
    "Prove in which order a layer's weights hold q, k and v: from a record of what the\n"
    "module was given and returned (query, key, value, output, and attn_mask and\n"
    "key_padding_mask where there were any) every order, transposed or not, whole or\n"
    "taking turns by head or by channel, is tried. docs/porting.md has the lines that\n"
    "record one from PyTorch.\n\n"
    "  --record IO.npz  the record\n"
    "  --heads H        number of heads (default: num_heads of the record, or else every\n"
    "                   divisor of E is tried)\n"
    "  --profile P      precision of the run that was recorded: float64, float32, tf32,\n"
    "                   float16, bfloat16 (default: the weights' own if it is one of the last\n"
    "                   two, else float32)\n\n"
    "Exit status: 0 proven, 1 no reading fits or several do, 2 could not judge.\n\n"
    "  qkvec order model.pt transformer_encoder.layers.0.self_attn --heads 2 --record io.npz\n";

static const char *reading_text(char text[400], const struct judged *j, const struct layer *l, const struct order *o)
{
    char words[LAYOUT_WORDS];

    layout_words(words, &j->reading.layout, layer_separate(l));
    snprintf(text, 400, "%s; %zu head%s%s%s", words, j->reading.H, j->reading.H == 1 ? "" : "s",
             j->reading.out_transposed ? "; out_proj.weight transposed" : "",
             o->unbatched ? "" : j->reading.batch_first ? "; batch first" : "; batch second");
    return text;
}

static void print_judged(const struct judged *j, const struct layer *l, const struct order *o)
{
    char text[400];

    if (isnan(j->error_sigma))
        printf("  not finite      ");
    else
        printf("  %10.3g sigma", j->error_sigma);
    printf("  %s  %s\n", j->passed ? "fits " : "wrong", reading_text(text, j, l, o));
}

static void advise(const char *path, const struct layer *l, const struct reading *r)
{
    char prefix[PREFIX], layout[LAYOUT_TEXT], shown[2][PREFIX * 4];

    layout_text(layout, &r->layout);
    quote_shell(shown[0], sizeof shown[0], path);
    quote_shell(shown[1], sizeof shown[1], prefix_text(prefix, l));
    printf("\nqkvec split");
    if (strcmp(layout, "qkv") || strcmp(l->layout, "qkv"))
        printf(" --layout %s", layout);
    if (r->layout.portions == PORTIONS_HEAD)
        printf(" --heads %zu", r->H);
    printf(" %s %s -o qkv.npz\n", shown[0], shown[1]);
}

static int report(const char *path, const struct layer *l, const struct order *o, const struct profile *p)
{
    char prefix[PREFIX], text[400], shape[192];
    const struct judged *best = &o->judged[0], *next = o->count > o->passed ? &o->judged[o->passed] : NULL;

    printf("%s: %s %s, record N=%zu L=%zu S=%zu, %zu readings, %s\n\n", prefix_text(prefix, l),
           layer_separate(l) ? "separate" : "packed", tensor_shape_text(shape, l->weight[0]), o->N, o->L, o->S, o->tried, p->name);
    for (size_t k = 0; k < o->count; k++)
        print_judged(&o->judged[k], l, o);
    putchar('\n');
    if (o->verdict == ORDER_NONE) {
        printf("none fits: the best is %.3g sigma off (%s). Another number of heads (leave out --heads), another precision\n"
               "(--profile), a mask that is not in the record, dropout, or another layer's record are the usual reasons.\n", best->error_sigma, best->reason);
        return NOT_CONFORMANT;
    }
    if (o->verdict == ORDER_CANNOT_TELL) {
        printf("cannot tell: %zu%s readings reproduce the output; %s.\n", o->passed, o->count == o->passed && o->count < o->tried ? " or more" : "", o->why);
        return NOT_CONFORMANT;
    }
    printf("proven: %s.\n", reading_text(text, best, l, o));
    if (isnan(best->noise))
        printf("It reproduces the output within %.3g sigma", best->error_sigma);
    else
        printf("It reproduces the output within %.3g sigma (rms %.3g)", best->error_sigma, best->noise);
    if (!next)
        puts("; no other reading is possible.");
    else if (isnan(next->error_sigma))
        puts("; the next best leaves the numbers of this precision.");
    else
        printf("; the next best is %.3g sigma off.\n", next->error_sigma);
    advise(path, l, &best->reading);
    return CONFORMANT;
}

static int judge_layer(const char *path, const struct layer *l, const char *record, size_t H, const struct profile *p)
{
    struct npz io;
    struct order o;
    const char *wrong = npz_read(&io, record);

    if (wrong)
        return complain(record, "%s", wrong);
    wrong = order_find(&o, l, &io, H, p);
    npz_free(&io);
    return wrong ? complain(record, "%s", wrong) : report(path, l, &o, p);
}

int command_order(int argc, char **argv)
{
    const char *record = NULL, *heads = NULL, *profile = NULL;
    int words, status;
    const struct option options[] = { { "--record", &record, NULL }, { "--heads", &heads, NULL }, { "--profile", &profile, NULL }, { NULL, NULL, NULL } };
    struct opened_options given = { 0 };
    struct opened o;
    size_t H;

    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (words != 2 || !record)
        return complain("order", "name a checkpoint, a layer and --record IO.npz; see qkvec order --help");
    if (profile && !profile_named(profile))
        return complain(profile, "no such profile; wanted float64, float32, tf32, float16 or bfloat16");
    given.heads = heads;
    if ((status = opened_read(&o, argv[0], argv[1], &given)))
        return status;
    H = o.H;
    if (!profile)
        profile = o.layer->weight[0]->type == TENSOR_F16 ? "float16" : o.layer->weight[0]->type == TENSOR_BF16 ? "bfloat16" : "float32";
    status = judge_layer(argv[0], o.layer, record, H, profile_named(profile));
    opened_close(&o);
    return status;
}
