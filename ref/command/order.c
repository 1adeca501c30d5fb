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
    "Prove in which order a layer's weights hold q, k and v, from a record of what the module\n"
    "was given and returned: query, key, value, output, and attn_mask, key_padding_mask, cos,\n"
    "sin and residual if there were any. Every order, transposed or not, whole or in portions,\n"
    "is tried. If none fits, it is tried with the steps that nn.MultiheadAttention lacks:\n"
    "another scale, a causal mask, padding, ALiBi, rotary positions, norms of q and k, the\n"
    "residual in the output, the input before its norm, an output without its bias.\n"
    "docs/porting.md has the lines that record one from PyTorch.\n\n"
    "  --record IO.npz  the record\n"
    "  --heads H        number of query heads (default: num_heads of the record, config.json\n"
    "                   beside the file, or else every possible one is tried)\n"
    "  --kv-heads G     key heads, if they are fewer\n"
    "  --layout L       qkv,rows or qkv,blocks, if the shapes fit two readings\n"
    "  --name PART=KEY  as in qkvec split\n"
    "  --profile P      precision of the run that was recorded: float64, float32, tf32,\n"
    "                   float16, bfloat16 (default: the weights' own if it is one of the last\n"
    "                   two, else float32)\n\n"
    "Exit status: 0 proven, 1 no reading fits or several do, 2 could not judge.\n\n"
    "  qkvec order model.pt transformer_encoder.layers.0.self_attn --heads 2 --record io.npz\n";

static const char *reading_text(char text[900], const struct judged *j, const struct layer *l, const struct order *o)
{
    const struct reading *r = &j->reading;
    char words[LAYOUT_WORDS], steps[STEPS_TEXT], heads[64];

    layout_words(words, &r->layout, layer_separate(l));
    steps_text(steps, &r->steps);
    if (r->G < r->H)
        snprintf(heads, sizeof heads, "%zu heads, %zu of k and v", r->H, r->G);
    else
        snprintf(heads, sizeof heads, "%zu head%s", r->H, r->H == 1 ? "" : "s");
    snprintf(text, 900, "%s; %s%s%s%s%s", words, heads, r->out_transposed && l->out_width == l->rows[0] ? "; out_proj.weight transposed" : "",
             o->unbatched ? "" : r->batch_first ? "; batch first" : "; batch second", steps[0] ? "; " : "", steps);
    return text;
}

static void print_judged(const struct judged *j, const struct layer *l, const struct order *o)
{
    char text[900];

    if (isnan(j->error_sigma))
        printf("  not finite      ");
    else
        printf("  %10.3g %s", j->error_sigma, j->by_rounding ? "x rms" : "sigma");
    printf("  %s  %s\n", j->passed ? "fits " : "wrong", reading_text(text, j, l, o));
}

static void print_command(const char *path, const struct layer *l, const struct reading *r)
{
    char prefix[PREFIX], layout[LAYOUT_TEXT], shown[2][PREFIX * 4];

    layout_text(layout, &r->layout);
    quote_shell(shown[0], sizeof shown[0], path);
    quote_shell(shown[1], sizeof shown[1], prefix_text(prefix, l));
    printf("\nqkvec split");
    if (layer_separate(l) ? r->layout.storing != l->storing || strncmp(layout, "qkv", 3) || l->doubt[0] : strcmp(layout, "qkv") || strcmp(layout, l->layout))
        printf(" --layout %s%s", layout, layer_separate(l) && l->doubt[0] && r->layout.storing == STORED_ROWS ? ",rows" : "");
    if (r->layout.portions == PORTIONS_HEAD)
        printf(" --heads %zu", r->H);
    printf(" %s %s -o qkv.npz\n", shown[0], shown[1]);
}

/* Report that nothing fits: the nearest miss, everything that was tried, and what may help. */
static void report_none(const struct layer *l, const struct order *o, const struct opened *opened, const struct npz *record, const struct profile *p)
{
    const struct judged *best = &o->judged[0];
    char text[900], shown[SHOWN];
    size_t length = l->length ? l->length + 1 : 0;

    if (best->by_rounding)
        printf("none fits: the nearest miss is %s.\n", best->reason);
    else
        printf("none fits: the nearest miss is %.3g sigma off (%s).\n", best->error_sigma, best->reason);
    printf("  nearest: %s\n", reading_text(text, best, l, o));
    printf("  tried, up to two at once and with a causal mask three%s: scores not scaled, times 1/D, 1/sqrt(E), 1/E; causal mask%s; padding at either end;\n"
           "  ALiBi; rotary positions in halves and pairs%s; %sthe residual in the output; the input before a norm; no output bias; shards.\n",
           o->names_only ? " (the layer is large: on the layout of its names alone)" : "",
           npz_get(record, "attn_mask") || npz_get(record, "key_padding_mask") ? ", inverted masks" : "", npz_get(record, "cos") ? " by cos and sin of the record" : "",
           l->unused_count ? "norms of q and k if it has them; " : "");
    if (l->unused_count) {
        printf("  not used, and a likely cause:");
        for (size_t k = 0; k < l->unused_count && k < LAYER_UNUSED; k++)
            printf("%s %s", k ? "," : "", show_name(shown, l->unused[k]->name + length, strlen(l->unused[k]->name + length)));
        putchar('\n');
    }
    printf("  not tried: dropout (record under model.eval()), positions added to q and k, relative position biases (record them as attn_mask), windows,\n"
           "  softcap, sinks; another layer's record");
    if (opened->H)
        printf("; another number of heads (leave out --heads)");
    else if (npz_get(record, "num_heads"))
        printf("; another number of heads than num_heads of the record");
    printf("; another precision than %s (--profile).\n", p->name);
}

static int report(const char *path, const struct opened *opened, const struct order *o, const struct npz *record, const struct profile *p)
{
    const struct layer *l = opened->layer;
    char prefix[PREFIX], text[900], shape[192], steps[STEPS_TEXT];
    const struct judged *best = &o->judged[0], *next = o->count > o->passed ? &o->judged[o->passed] : NULL;

    printf("%s: %s %s, record N=%zu L=%zu S=%zu, %zu readings, %s\n\n", prefix_text(prefix, l),
           layer_separate(l) ? "separate" : "packed", tensor_shape_text(shape, l->weight[0]), o->N, o->L, o->S, o->tried, p->name);
    for (size_t k = 0; k < o->count; k++)
        print_judged(&o->judged[k], l, o);
    putchar('\n');
    if (o->verdict == ORDER_NONE) {
        report_none(l, o, opened, record, p);
        return NOT_CONFORMANT;
    }
    if (o->verdict == ORDER_CANNOT_TELL) {
        printf("cannot tell: %zu%s readings reproduce the output; %s.\n", o->passed, o->count == o->passed && o->count < o->tried ? " or more" : "", o->why);
        return NOT_CONFORMANT;
    }
    printf("proven: %s.\n", reading_text(text, best, l, o));
    if (best->by_rounding)
        printf("It reproduces the output with an rms error of %.3g times that of a %s run of the same steps (4 are allowed)", best->error_sigma, p->name);
    else if (isnan(best->noise))
        printf("It reproduces the output within %.3g sigma", best->error_sigma);
    else
        printf("It reproduces the output within %.3g sigma (rms %.3g)", best->error_sigma, best->noise);
    if (!next)
        puts("; no other reading is possible.");
    else if (isnan(next->error_sigma))
        puts("; the next best leaves the numbers of this precision.");
    else
        printf("; the next best is %.3g %s off.\n", next->error_sigma, next->by_rounding ? "times" : "sigma");
    if (steps_text(steps, &best->reading.steps)[0])
        printf("Beside nn.MultiheadAttention it takes these steps: %s.\n", steps);
    if (o->also[0])
        printf("These fit as well, with the same matrices: %s.\n", o->also);
    print_command(path, l, &best->reading);
    return CONFORMANT;
}

static int judge_layer(const char *path, const struct opened *opened, const char *record, const struct profile *p)
{
    struct npz io;
    struct order o;
    const char *wrong = npz_read(&io, record);

    if (wrong)
        return complain(record, "%s", wrong);
    wrong = order_find(&o, opened->layer, &opened->file, &opened->config, &io, opened->H, p);
    int status = wrong ? complain(record, "%s", wrong) : report(path, opened, &o, &io, p);
    npz_free(&io);
    return status;
}

int command_order(int argc, char **argv)
{
    const char *record = NULL, *profile = NULL;
    struct opened_options given = { 0 };
    int words, status;
    const struct option options[] = {
        { "--record", &record, NULL }, { "--heads", &given.heads, NULL }, { "--kv-heads", &given.key_heads, NULL }, { "--layout", &given.layout, NULL },
        { "--profile", &profile, NULL }, { NULL, NULL, NULL },
    };
    struct opened o;

    if ((status = opened_take_names(&argc, argv, &given)))
        return status;
    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (words != 2 || !record)
        return complain("order", "name a checkpoint, a layer and --record IO.npz; see qkvec order --help");
    if (profile && !profile_named(profile))
        return complain(profile, "no such profile; wanted float64, float32, tf32, float16 or bfloat16");
    if ((status = opened_read(&o, argv[0], argv[1], &given)))
        return status;
    if (!profile)
        profile = o.layer->weight[0]->type == TENSOR_F16 ? "float16" : o.layer->weight[0]->type == TENSOR_BF16 ? "bfloat16" : "float32";
    status = judge_layer(argv[0], &o, record, profile_named(profile));
    opened_close(&o);
    return status;
}
