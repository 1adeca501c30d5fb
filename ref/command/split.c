/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "numbers.h"
#include "opened.h"

static const char help[] =
    "usage: qkvec split [OPTION...] CHECKPOINT [LAYER]\n\n"
    "Print the query, key and value matrices of a trained model: a state_dict or a whole\n"
    "checkpoint of torch.save(), a .safetensors or .npz file, or the .index.json of several.\n"
    "Nothing in it is executed. Without LAYER the attention layers are listed. In a pipe each\n"
    "is one line with tabs. With LAYER its q_weight, k_weight, v_weight, biases and transposes\n"
    "are printed. LAYER is a prefix of the list, the end of one if that is unique, or the key\n"
    "of its weight. A config.json in the same folder gives the numbers of heads.\n\n"
    "  -o OUT.npz       write them there\n"
    "  --layout L       how the weights are laid out (default: as the names and shapes say;\n"
    "                   qkvec order proves it). Order first: qkv, kqv, ...; then ,head or\n"
    "                   ,element or ,shards=N if they lie in portions, and ,rows ,columns\n"
    "                   ,blocks or ,side: how outputs and inputs lie\n"
    "  --heads H        query heads, for layouts with ,head\n"
    "  --kv-heads G     key heads, if they are fewer\n"
    "  --name PART=KEY  the key of a part, or its end, for names that are not known; PART is\n"
    "                   q, k, v, qkv, out, q_bias, k_bias or v_bias\n"
    "  --exact          hexadecimal floating point, as in C\n\n"
    "  qkvec split model.pt\n"
    "  qkvec split model.pt transformer_encoder.layers.0.self_attn -o qkv.npz\n"
    "  qkvec split --layout qkv,head --heads 4 neox.safetensors layers.0.attention\n"
    "  qkvec split --name q=Wq --name k=Wk --name v=Wv --name out=Wo model.pt\n";

/* ---- the list ---- */

static const char *sizes(char text[192], const struct layer *l)
{
    int n = l->Ek != l->E || l->Ev != l->E ? snprintf(text, 192, "E=%zu Ek=%zu Ev=%zu", l->E, l->Ek, l->Ev) : snprintf(text, 192, "E=%zu", l->E);

    if (layer_grouped(l) && l->H)
        snprintf(text + n, 192 - (size_t)n, " H=%zu G=%zu D=%zu", l->H, l->G, l->D);
    else if (layer_grouped(l))
        snprintf(text + n, 192 - (size_t)n, " H/G=%zu", l->rows[0] / l->rows[1]);
    else if (l->rows[0] != l->E && l->H)
        snprintf(text + n, 192 - (size_t)n, " H=%zu D=%zu", l->H, l->D);
    else if (l->rows[0] != l->E)
        snprintf(text + n, 192 - (size_t)n, " H*D=%zu", l->rows[0]);
    return text;
}

static const char *biases(char text[48], const struct layer *l)
{
    int count = (l->bias[0] != NULL) + (l->bias[1] != NULL) + (l->bias[2] != NULL);

    if (l->naming->bias[1] && count && count < 3)
        snprintf(text, 48, "bias of %s%s%s", l->bias[0] ? "q" : "", l->bias[1] ? l->bias[0] ? ", k" : "k" : "",
                 l->bias[2] ? count > 1 ? ", v" : "v" : "");
    else
        strcpy(text, count ? "bias" : "no bias");
    if (l->bias_k)
        strcpy(text, count ? "bias, bias_k, bias_v" : "bias_k, bias_v");
    return text;
}

/* Print the unused tensors of a layer, "; not used: a, b". */
static void print_unused(const struct layer *l)
{
    char shown[SHOWN];
    size_t length = l->length ? l->length + 1 : 0;

    for (size_t k = 0; k < l->unused_count && k < LAYER_UNUSED; k++)
        printf("%s %s", k ? "," : " not used:", show_name(shown, l->unused[k]->name + length, strlen(l->unused[k]->name + length)));
    if (l->unused_count > LAYER_UNUSED)
        printf(", and %zu more", l->unused_count - LAYER_UNUSED);
}

static int list(const struct opened *o, const char *path)
{
    const struct layers *all = &o->layers;
    char prefix[PREFIX], shape[192], size[192], bias[48];
    int width = 0, status = 0, table = terminal(0);

    for (size_t k = 0; k < all->count; k++) {
        int n = (int)strlen(prefix_text(prefix, &all->layer[k]));
        width = n > width ? n : width;
    }
    for (size_t k = 0; k < all->count; k++) {
        const struct layer *l = &all->layer[k];
        prefix_text(prefix, l);
        if (l->problem[0]) {
            status = complain(path, "%s", l->problem);
            continue;
        }
        printf(table ? "%-*s  %s  %s %s%s  %s  %s  %zu numbers" : "%-*s\t%s\t%s %s%s\t%s\t%s\t%zu", table ? width : 0, prefix, sizes(size, l),
               layer_separate(l) ? "separate" : "packed", tensor_shape_text(shape, l->weight[0]), l->storing == STORED_BLOCKS ? " (in,out)" : "",
               biases(bias, l), tensor_type_name(l->weight[0]), l->numbers);
        if (l->naming->origin[0])
            printf(table ? "  names of %s" : "\t%s", l->naming->origin);
        if (l->unused_count || l->doubt[0])
            printf(table ? " " : "\t");
        print_unused(l);
        if (l->doubt[0])
            printf("%s refused by split, which says why", l->unused_count ? ";" : "");
        putchar('\n');
    }
    opened_notes(o, path, NULL);
    return status;
}

/* ---- one layer ---- */

static int print_layer(const char *path, const struct layer *l, const struct layout *layout, size_t H, const char *out, int exact)
{
    char error[SENTENCE];
    struct npz z = { 0 };
    const char *wrong = layer_split(&z, l, layout, H, error);
    int status = wrong ? complain(path, "%s", wrong) : 0;

    if (!status && out) {
        if ((wrong = npz_write(&z, out)))
            status = complain(out, "%s", wrong);
    }
    for (size_t k = 0; k < z.count && !status && !out; k++)
        print_array(stdout, &z.arrays[k], exact);
    npz_free(&z);
    return status;
}

static int split(const struct opened *o, const char *path, const char *given, const char *out, int exact)
{
    struct layout layout;
    char error[SENTENCE];
    const char *wrong = layer_layout(&layout, o->layer, given, o->H, error);

    if (wrong)
        return complain(path, "%s", wrong);
    int status = print_layer(path, o->layer, &layout, o->H, out, exact);
    if (!status)
        opened_notes(o, path, o->layer);
    return status;
}

int command_split(int argc, char **argv)
{
    const char *out = NULL;
    struct opened_options given = { 0 };
    int exact = 0, words, status;
    const struct option options[] = {
        { "-o", &out, NULL }, { "--layout", &given.layout, NULL }, { "--heads", &given.heads, NULL },
        { "--kv-heads", &given.key_heads, NULL }, { "--exact", NULL, &exact }, { NULL, NULL, NULL },
    };
    struct opened o;

    if ((status = opened_take_names(&argc, argv, &given)))
        return status;
    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (words < 1 || words > 2)
        return complain("split", "name a checkpoint, and a layer or none; see qkvec split --help");
    if (words == 1 && (out || exact))
        return complain("split", "these options need a LAYER; qkvec split %s lists them", argv[0]);
    if ((status = opened_read(&o, argv[0], words == 2 ? argv[1] : NULL, &given)))
        return status;
    status = o.layer ? split(&o, argv[0], given.layout, out, exact) : list(&o, argv[0]);
    opened_close(&o);
    return status;
}
