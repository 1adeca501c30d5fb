/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "numbers.h"
#include "opened.h"

static const char help[] =
    "usage: qkvec split [OPTION...] CHECKPOINT [LAYER]\n\n"
    "The query, key and value matrices of a trained model: out of a state_dict or a whole\n"
    "checkpoint of torch.save(), a .safetensors or an .npz file. Nothing in it is executed.\n"
    "Without LAYER the attention layers are listed. In a pipe each is one line with tabs.\n"
    "With LAYER its q_weight, k_weight, v_weight, biases and transposes are printed, under\n"
    "the names of the stages of a vector. LAYER is a prefix of the list, the end of one\n"
    "where that is unique, or the key of its weight.\n\n"
    "  -o OUT.npz       write them there\n"
    "  --layout L       how a packed weight is laid out (default qkv, PyTorch's, or what the\n"
    "                   names suggest); qkvec order finds it. Order first: qkv, kqv, ...;\n"
    "                   then ,head or ,element where they take turns, and ,columns ,blocks\n"
    "                   or ,side where they are not rows of (out,in)\n"
    "  --heads H        for layouts with ,head\n"
    "  --exact          hexadecimal floating point, as in C\n\n"
    "  qkvec split model.pt\n"
    "  qkvec split model.pt transformer_encoder.layers.0.self_attn -o qkv.npz\n"
    "  qkvec split --layout qkv,head --heads 4 neox.safetensors layers.0.attention\n";

/* ---- the list ---- */

static const char *sizes(char text[128], const struct layer *l)
{
    if (l->Ek != l->E || l->Ev != l->E)
        snprintf(text, 128, "E=%zu Ek=%zu Ev=%zu", l->E, l->Ek, l->Ev);
    else
        snprintf(text, 128, "E=%zu", l->E);
    return text;
}

static const char *biases(const struct layer *l)
{
    int any = l->bias[0] || l->bias[1] || l->bias[2];

    return l->bias_k ? any ? "bias, bias_k, bias_v" : "bias_k, bias_v" : any ? "bias" : "no bias";
}

static int list(const struct layers *all, const char *path)
{
    char prefix[PREFIX], shape[192], size[128];
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
        printf(table ? "%-*s  %s  %s %s  %s  %s  %zu numbers" : "%-*s\t%s\t%s %s\t%s\t%s\t%zu", table ? width : 0, prefix, sizes(size, l),
               layer_separate(l) ? "separate" : "packed", tensor_shape_text(shape, l->weight[0]), biases(l), tensor_type_name(l->weight[0]), l->numbers);
        if (l->naming->origin[0])
            printf(table ? "  names of %s" : "\t%s", l->naming->origin);
        putchar('\n');
    }
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

static int split(const char *path, const struct layer *l, const char *given, const char *heads, const char *out, int exact)
{
    const char *rule = given ? given : l->naming->layout, *wrong;
    struct layout layout;
    size_t H = 1;

    if ((wrong = layout_parse(&layout, rule)))
        return complain(rule, "%s", wrong);
    if (!given && !layer_separate(l) && layout.storing == STORED_COLUMNS && l->weight[0]->shape[0] != l->E)
        layout.storing = STORED_ROWS;    /* the names are of Conv1D, the shape is not */
    if (heads && heads_read(&H, heads))
        return NOT_JUDGED;
    if (l->E % H)
        return complain(heads, "heads do not divide E = %zu", l->E);
    if (layout.turns == TURNS_HEAD && !heads)
        return complain(path, "by the names of %s the rows of q, k and v take turns head by head: give --heads H, or --layout",
                        l->naming->origin[0] ? l->naming->origin : "this layout");
    if (layer_separate(l) && (layout.turns != TURNS_WHOLE || (layout.storing != STORED_ROWS && layout.storing != STORED_BLOCKS)))
        return complain(rule, "a layout of packed weights, found separate ones: wanted an order, and ,blocks where each is transposed");
    return print_layer(path, l, &layout, H, out, exact);
}

int command_split(int argc, char **argv)
{
    const char *out = NULL, *layout = NULL, *heads = NULL;
    int exact = 0, words, status;
    const struct option options[] = {
        { "-o", &out, NULL }, { "--layout", &layout, NULL }, { "--heads", &heads, NULL }, { "--exact", NULL, &exact }, { NULL, NULL, NULL },
    };
    struct opened o;

    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (words < 1 || words > 2)
        return complain("split", "name a checkpoint, and a layer or none; see qkvec split --help");
    if (words == 1 && (out || layout || heads || exact))
        return complain("split", "these options need a LAYER; qkvec split %s lists them", argv[0]);
    if ((status = opened_read(&o, argv[0], words == 2 ? argv[1] : NULL)))
        return status;
    status = o.layer ? split(argv[0], o.layer, layout, heads, out, exact) : list(&o.layers, argv[0]);
    opened_close(&o);
    return status;
}
