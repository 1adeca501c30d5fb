/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "opened.h"

const char *prefix_text(char text[PREFIX], const struct layer *layer)
{
    size_t n = layer->length;

    if (!n)
        return strcpy(text, ".");
    snprintf(text, PREFIX, "%s%.*s", n >= PREFIX - 4 ? "..." : "", (int)(n >= PREFIX - 4 ? PREFIX - 4 : n),
             layer->prefix + (n >= PREFIX - 4 ? n - (PREFIX - 4) : 0));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return text;
}

/* ---- a file without layers ---- */

/* Rate a name: how much it looks like part of attention. */
static int attention_like(const char *name)
{
    static const char *const words[] = { "q_proj", "k_proj", "v_proj", "qkv", "query", "key", "value", "attn", "attention", "to_q", "to_k", "wq", "Wq", "_q", "_k" };
    int rate = 0;

    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        rate += strstr(name, words[k]) != NULL;
    return rate;
}

/* Complain about a file without attention layers: name the tensors that look most like one. */
static int complain_none(const char *path, const struct checkpoint *c)
{
    const struct tensor *best[4] = { NULL };
    char text[4 * SHOWN] = "";
    size_t at = 0;

    for (size_t k = 0; k < c->count; k++) {
        const struct tensor *t = &c->tensors[k];
        for (int place = 0; place < 4; place++)
            if (!best[place] || attention_like(t->name) > attention_like(best[place]->name)) {
                const struct tensor *moved = best[place];
                best[place] = t;
                t = moved;
                if (!t)
                    break;
            }
    }
    for (int place = 0; place < 4 && best[place]; place++) {
        char shown[SHOWN];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.80s", place ? ", " : ": ", show_name(shown, best[place]->name, strlen(best[place]->name)));
    }
    return complain(path, "no attention layers among its %zu tensors%s; --name q=... --name k=... --name v=... --name out=... gives names that are not known",
                    c->count, text);
}

/* ---- options ---- */

static const char *const parts[8] = { "q", "k", "v", "qkv", "out", "q_bias", "k_bias", "v_bias" };

static int add_name(struct opened_options *options, const char *text)
{
    const char *is = strchr(text, '=');

    for (int k = 0; k < 8 && is; k++)
        if (strlen(parts[k]) == (size_t)(is - text) && !memcmp(parts[k], text, strlen(parts[k]))) {
            if (!is[1] || strlen(is + 1) > NAMING_KEY - 16)
                return complain(text, "found a name of %zu bytes, wanted 1 to %d", strlen(is + 1), NAMING_KEY - 16);
            if (options->names[k])
                return complain(text, "the name of %s is given twice", parts[k]);
            options->names[k] = is + 1;
            return 0;
        }
    return complain(text, "no name of a part; wanted q=KEY, k=KEY, v=KEY, qkv=KEY, out=KEY, q_bias=KEY, k_bias=KEY or v_bias=KEY");
}

int opened_take_names(int *argc, char **argv, struct opened_options *options)
{
    int kept = 0, k = 0;

    for (; k < *argc && strcmp(argv[k], "--"); k++) {
        const char *text = !strncmp(argv[k], "--name=", 7) ? argv[k] + 7 : NULL;
        if (!text && strcmp(argv[k], "--name")) {
            argv[kept++] = argv[k];
            continue;
        }
        if (!text && ++k == *argc)
            return complain("--name", "needs a value; see --help");
        if (add_name(options, text ? text : argv[k]))
            return NOT_JUDGED;
    }
    while (k < *argc)
        argv[kept++] = argv[k++];
    *argc = kept;
    return 0;
}

/* Write the key of a weight: the given one if a tensor's key ends so, or else with ".weight". */
static const char *weight_key(char text[NAMING_KEY], const char *given, const struct checkpoint *c)
{
    const char *tail = ".weight";

    for (size_t k = 0; k < c->count; k++)
        if (naming_prefix(c->tensors[k].name, given) >= 0)
            tail = "";
    snprintf(text, NAMING_KEY, "%s%s", given, tail);
    return text;
}

/* Write the key of a bias: the given one, or that of the weight with "bias". */
static const char *bias_key(char text[NAMING_KEY], const char *given, const char *weight)
{
    size_t n = strlen(weight);

    if (given)
        snprintf(text, NAMING_KEY, "%s", given);
    else if (n > 6 && !strcmp(weight + n - 6, "weight"))
        snprintf(text, NAMING_KEY, "%.*sbias", (int)(n - 6), weight);
    else
        return NULL;
    return text;
}

/* Make a row of names out of --name. Returns 0, or NOT_JUDGED after a complaint. */
static int name_parts(struct opened *o, const struct opened_options *options)
{
    const char *const *n = options->names;
    struct naming *row = &o->naming;
    int packed = n[3] != NULL, count = packed ? 1 : 3;

    if (packed ? n[0] || n[1] || n[2] : !n[0] || !n[1] || !n[2])
        return complain("--name", "found names of some of q, k, v and qkv; wanted either qkv or all of q, k and v");
    *row = (struct naming){ .origin = "--name", .layout = "qkv", .shapes = NAMED_GROUPED | NAMED_CROSS, .source = "the command line" };
    for (int k = 0; k < count; k++)
        row->weight[k] = weight_key(o->names[k], n[packed ? 3 : k], &o->file);
    for (int k = 0; k < (n[5] ? 3 : count); k++)
        row->bias[k] = bias_key(o->names[4 + k], n[5] || !packed ? n[5 + k] : NULL, row->weight[packed ? 0 : k]);
    if (!packed)
        for (int k = 1; k < 3; k++)
            if (!row->bias[k])
                row->bias[k] = "no.such.bias";    /* three biases, of which some are missing */
    if (n[4]) {
        row->out_weight = weight_key(o->names[8], n[4], &o->file);
        row->out_bias = bias_key(o->names[9], NULL, row->out_weight);
    }
    return 0;
}

/* ---- a file ---- */

int heads_read(size_t *H, const char *text, const char *option)
{
    size_t n = strspn(text, "0123456789");

    *H = n && n < 10 && !text[n] ? (size_t)strtoul(text, NULL, 10) : 0;
    return *H ? 0 : complain(text, "no number of heads; wanted %s N with N from 1 on", option);
}

static int read_options(struct clues *clues, struct opened *o, const struct opened_options *options)
{
    const char *wrong;
    int named = 0;

    if (options->heads && heads_read(&clues->H, options->heads, "--heads"))
        return NOT_JUDGED;
    if (options->key_heads && heads_read(&clues->G, options->key_heads, "--kv-heads"))
        return NOT_JUDGED;
    o->H = clues->H;
    if (options->layout) {
        if ((wrong = layout_parse(&o->layout, options->layout)))
            return complain(options->layout, "%s", wrong);
        clues->layout = &o->layout;
    }
    for (int k = 0; k < 8; k++)
        named |= options->names[k] != NULL;
    if (named)
        clues->naming = &o->naming;
    return named ? name_parts(o, options) : 0;
}

int opened_read(struct opened *o, const char *path, const char *layer, const struct opened_options *options)
{
    struct clues clues = { .config = &o->config };
    char error[SENTENCE];
    const char *wrong;
    int status = 0;

    *o = (struct opened){ 0 };
    if ((wrong = checkpoint_read(&o->file, path)))
        return complain(path, "%s", wrong);
    if ((status = read_options(&clues, o, options)))
        ;
    else if ((wrong = config_read(&o->config, path, error)))
        status = complain(path, "%s", wrong);
    else if ((wrong = layers_find(&o->layers, &o->file, &clues)))
        status = complain(path, "%s", wrong);
    else if (!o->layers.count)
        status = complain_none(path, &o->file);
    else if (layer && (wrong = layers_named(&o->layer, &o->layers, layer, error)))
        status = complain(path, "%s", wrong);
    if (status)
        opened_close(o);
    return status;
}

void opened_close(struct opened *o)
{
    layers_free(&o->layers);
    checkpoint_free(&o->file);
}

/* ---- notes ---- */

void opened_notes(const struct opened *o, const char *path, const struct layer *l)
{
    char shown[SHOWN], prefix[PREFIX];
    const struct checkpoint *c = &o->file;

    if (c->skipped_count && !l) {
        fprintf(stderr, "qkvec: %s: not tensors, and neither read nor built:", path);
        for (size_t k = 0; k < c->skipped_count && k < CHECKPOINT_SKIPPED; k++)
            fprintf(stderr, "%s %s", k ? "," : "", c->skipped[k]);
        if (c->skipped_count > CHECKPOINT_SKIPPED)
            fprintf(stderr, ", and %zu more", c->skipped_count - CHECKPOINT_SKIPPED);
        fputc('\n', stderr);
    }
    if (!l || !l->unused_count)
        return;
    fprintf(stderr, "qkvec: %s: %s: not used, though part of its attention:", path, prefix_text(prefix, l));
    size_t length = l->length ? l->length + 1 : 0;
    for (size_t k = 0; k < l->unused_count && k < LAYER_UNUSED; k++)
        fprintf(stderr, "%s %s", k ? "," : "", show_name(shown, l->unused[k]->name + length, strlen(l->unused[k]->name + length)));
    if (l->unused_count > LAYER_UNUSED)
        fprintf(stderr, ", and %zu more", l->unused_count - LAYER_UNUSED);
    fputc('\n', stderr);
}
