/* SPDX-License-Identifier: MIT */
/* Checkpoints that real programs wrote, and files that lie. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/file.h"
#include "checkpoint/layer.h"

static const struct clues no_clues;

#define CHECKPOINTS QKVEC_TEST_DATA "/../../checkpoints/"

static void read_file(struct checkpoint *c, const char *name)
{
    char path[1024];
    const char *wrong;

    snprintf(path, sizeof path, "%s%s", CHECKPOINTS, name);
    wrong = checkpoint_read(c, path);
    cr_assert_null(wrong, "%s: %s", name, wrong);
}

static void take(struct npz *z, const struct checkpoint *c, const char *name)
{
    char error[SENTENCE];
    const struct tensor *t = checkpoint_get(c, "", 0, name);

    cr_assert_not_null(t, "%s", name);
    const char *wrong = checkpoint_take(z, "x", t, error);
    cr_assert_null(wrong, "%s", wrong);
}

/* ---- the same numbers, whatever the format ---- */

static void same_tensors(const char *name, const char *other, size_t least)
{
    struct checkpoint a, b;
    size_t compared = 0;

    read_file(&a, name);
    read_file(&b, other);
    for (size_t k = 0; k < a.count; k++) {
        const struct tensor *t = checkpoint_get(&b, "", 0, a.tensors[k].name);
        struct npz x = { 0 }, y = { 0 };
        char error[SENTENCE];
        if (!t || t->type != a.tensors[k].type || strstr(t->name, "pos_encoder"))
            continue;
        cr_assert_null(checkpoint_take(&x, "x", &a.tensors[k], error));
        cr_assert_null(checkpoint_take(&y, "x", t, error));
        cr_assert_eq(x.arrays[0].size, y.arrays[0].size);
        cr_assert_eq(memcmp(x.arrays[0].data, y.arrays[0].data, x.arrays[0].size * npz_type_size(x.arrays[0].type)), 0, "%s", t->name);
        compared++;
        npz_free(&x);
        npz_free(&y);
    }
    cr_assert_geq(compared, least);
    checkpoint_free(&a);
    checkpoint_free(&b);
}

Test(checkpoint, old_versions_and_other_formats_hold_the_same)
{
    same_tensors("lm.pt", "lm_1.13.pt", 27);
    same_tensors("lm.pt", "legacy.pt", 27);
    same_tensors("lm.pt", "lm.safetensors", 12);
    same_tensors("encoder.pt", "encoder.npz", 8);    /* of an .npz the attention layers alone */
}

Test(checkpoint, names_types_and_shapes)
{
    struct checkpoint c;
    char text[192];

    read_file(&c, "lm.pt");
    cr_assert_str_eq(c.format, "torch.save");
    cr_assert_eq(c.count, 28);
    const struct tensor *t = checkpoint_get(&c, "transformer_encoder.layers.0.", 29, "self_attn.in_proj_weight");
    cr_assert_not_null(t);
    cr_assert_str_eq(tensor_type_name(t), "float32");
    cr_assert_str_eq(tensor_shape_text(text, t), "(72, 24)");
    cr_assert_str_eq(c.tensors[0].name, "pos_encoder.pe");    /* the order of the file */
    cr_assert_null(checkpoint_get(&c, "", 0, "transformer_encoder.layers.0.self_attn.in_proj_weigh"));
    checkpoint_free(&c);
}

Test(checkpoint, nested_dicts_beside_an_optimizer)
{
    struct checkpoint c;
    struct layers layers;
    struct npz z = { 0 };

    read_file(&c, "nested.pt");
    cr_assert_null(layers_find(&layers, &c, &no_clues));
    cr_assert_eq(layers.count, 1);
    cr_assert_eq(layers.layer[0].length, strlen("model.module.layers.0.self_attn"));
    cr_assert_eq(memcmp(layers.layer[0].prefix, "model.module.layers.0.self_attn.", 32), 0);
    take(&z, &c, "parameter");    /* an nn.Parameter outside of a state_dict */
    cr_assert_eq(npz_value(&z.arrays[0], 2), 2);
    cr_assert_str_eq(checkpoint_get(&c, "", 0, "steps")->type_name, "LongStorage");
    npz_free(&z);
    layers_free(&layers);
    checkpoint_free(&c);
}

Test(checkpoint, what_python_2_wrote)
{
    struct checkpoint c;
    struct npz z = { 0 };
    char error[SENTENCE];

    read_file(&c, "python2.pt");
    cr_assert_eq(c.count, 2);
    take(&z, &c, "a.in_proj_bias");
    cr_assert_null(checkpoint_take(&z, "y", &c.tensors[0], error));
    for (size_t i = 0; i < 48; i++)
        cr_assert_eq(npz_value(&z.arrays[1], i), (double)i);
    for (size_t i = 0; i < 12; i++)
        cr_assert_eq(npz_value(&z.arrays[0], i), 100 + (double)i);
    npz_free(&z);
    checkpoint_free(&c);
}

/* ---- precisions ---- */

Test(checkpoint, four_precisions_of_the_same_numbers)
{
    static const struct { const char *name; enum npz_type type; double error; } kinds[] = {
        { "f16.in_proj_weight", NPZ_F2, 0x1p-11 }, { "bf16.in_proj_weight", NPZ_F4, 0x1p-8 },
        { "f32.in_proj_weight", NPZ_F4, 0 }, { "f64.in_proj_weight", NPZ_F8, 0 },
    };
    struct checkpoint c;
    struct npz exact = { 0 };

    read_file(&c, "types.pt");
    take(&exact, &c, "f64.in_proj_weight");
    for (size_t k = 0; k < 4; k++) {
        struct npz z = { 0 };
        take(&z, &c, kinds[k].name);
        cr_assert_eq(z.arrays[0].type, kinds[k].type);
        for (size_t i = 0; i < z.arrays[0].size; i++) {
            double x = npz_value(&exact.arrays[0], i);
            cr_assert_leq(fabs(npz_value(&z.arrays[0], i) - x), kinds[k].error * fabs(x));
        }
        npz_free(&z);
    }
    npz_free(&exact);
    char error[SENTENCE];
    struct npz z = { 0 };
    cr_assert_str_eq(checkpoint_take(&z, "x", checkpoint_get(&c, "", 0, "counter"), error),
                     "counter: found LongStorage, wanted float16, bfloat16, float32 or float64");
    checkpoint_free(&c);
}

/* ---- views ---- */

Test(checkpoint, shared_strided_and_offset_storages)
{
    struct checkpoint c;
    struct npz flat = { 0 }, weight = { 0 }, tied = { 0 }, out = { 0 }, constant = { 0 };

    read_file(&c, "views.pt");
    take(&flat, &c, "flat");
    take(&weight, &c, "a.in_proj_weight");
    take(&tied, &c, "tied.in_proj_weight");
    for (size_t i = 0; i < 36 * 12; i++) {
        cr_assert_eq(npz_value(&weight.arrays[0], i), npz_value(&flat.arrays[0], 5 + i));
        cr_assert_eq(npz_value(&tied.arrays[0], i), npz_value(&weight.arrays[0], i));
    }
    const struct tensor *t = checkpoint_get(&c, "", 0, "a.out_proj.weight");
    cr_assert_eq(t->stride[0], 1);
    cr_assert_eq(t->stride[1], 24);
    take(&out, &c, "a.out_proj.weight");
    cr_assert_neq(npz_value(&out.arrays[0], 1), 0);
    take(&constant, &c, "a.out_proj.bias");
    cr_assert_eq(constant.arrays[0].size, 12);
    for (size_t i = 0; i < 12; i++)
        cr_assert_eq(npz_value(&constant.arrays[0], i), 0.5);
    npz_free(&flat);
    npz_free(&weight);
    npz_free(&tied);
    npz_free(&out);
    npz_free(&constant);
    checkpoint_free(&c);
}

/* A view of a storage in memory, all ways of looking at 2 x 3 x 2 numbers. */
Test(checkpoint, strides_by_hand)
{
    unsigned char data[13 * 8];
    struct tensor t = { .name = (char[]){ "t" }, .type = TENSOR_F64, .ndim = 3, .shape = { 2, 3, 2 }, .stride = { 1, 4, 2 },
                        .offset = 1, .elements = 13, .data = data };
    char error[SENTENCE];
    struct npz z = { 0 };

    for (size_t i = 0; i < 13; i++) {
        double x = (double)i;
        uint64_t bits;
        memcpy(&bits, &x, 8);
        for (int k = 0; k < 8; k++)
            data[8 * i + (size_t)k] = (unsigned char)(bits >> 8 * k & 255);
    }
    cr_assert_null(tensor_check(&t, error));
    cr_assert_null(checkpoint_take(&z, "x", &t, error));
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 3; b++)
            for (size_t d = 0; d < 2; d++)
                cr_assert_eq(npz_value(&z.arrays[0], (a * 3 + b) * 2 + d), (double)(1 + a + 4 * b + 2 * d));
    npz_free(&z);
    t.elements = 12;    /* the last one is number 12 */
    cr_assert_str_eq(tensor_check(&t, error), "t: shape (2, 3, 2) from element 1 on leaves its storage of 12 elements");
    t.shape[1] = 0;     /* nothing is read */
    cr_assert_null(tensor_check(&t, error));
    t.ndim = 0;
    t.offset = 11;
    cr_assert_null(tensor_check(&t, error));
    t.offset = 12;
    cr_assert_not_null(tensor_check(&t, error));
}

/* ---- files that lie ---- */

/* Read it and take every step that qkvec split takes; the first complaint. */
static const char *refusal(unsigned char *bytes, size_t length, char error[SENTENCE])
{
    struct checkpoint c;
    struct layers layers;
    const struct layer *layer;
    struct npz z = { 0 };
    const char *wrong = checkpoint_read_memory(&c, bytes, length);

    if (wrong)
        return say(error, SENTENCE, "%s", wrong);
    cr_assert_null(layers_find(&layers, &c, &no_clues));
    wrong = layers_named(&layer, &layers, ".", error);
    if (!wrong)
        wrong = layer_split(&z, layer, &layout_pytorch, 1, error);
    npz_free(&z);
    layers_free(&layers);
    checkpoint_free(&c);
    return wrong;
}

/* What follows the name and a tab in a text of lines. */
static const char *sentence_of(const char *text, size_t length, const char *name, size_t name_length)
{
    for (const char *p = text, *end = text + length; (size_t)(end - p) > name_length; p++) {
        if (!memcmp(p, name, name_length) && p[name_length] == '\t')
            return p + name_length + 1;
        if (!(p = memchr(p, '\n', (size_t)(end - p))))
            break;
    }
    return NULL;
}

Test(checkpoint, every_hostile_file_is_refused_with_its_sentence)
{
    unsigned char *bytes, *text = NULL;
    size_t length, text_length = 0, tried = 0;
    char error[SENTENCE];
    struct zip archive;
    struct zip_member m;
    int more = 1;

    cr_assert_null(file_read(&bytes, &length, CHECKPOINTS "hostile.zip", 1 << 24, error));
    cr_assert_null(zip_open(&archive, bytes, length, error));
    for (;;) {
        unsigned char *content;
        cr_assert_null(zip_next(&m, &more, &archive));
        if (!more)
            break;
        cr_assert_null(zip_unpack(&content, &m, error));
        if (!text) {    /* sentences.txt comes first */
            text = content;
            text_length = m.size;
            continue;
        }
        const char *line = sentence_of((const char *)text, text_length, (const char *)m.name, m.name_length);
        cr_assert_not_null(line, "%s has no sentence", m.shown);
        char wanted[SENTENCE];
        snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(line, "\n"), line);
        const char *wrong = refusal(content, m.size, error);    /* frees content */
        cr_assert_not_null(wrong, "%s is accepted", m.shown);
        cr_assert_not_null(strstr(wrong, wanted), "%s: %s; wanted: %s", m.shown, wrong, wanted);
        tried++;
    }
    cr_assert_geq(tried, 160);
    free(text);
    free(bytes);
}

/* Every good file, cut anywhere: refused, and never read past its end. */
Test(checkpoint, truncated_anywhere)
{
    static const char *const names[] = { "symmetric.pt", "types.pt", "lm.safetensors", "legacy.pt", "encoder.npz" };
    char path[1024], error[SENTENCE];

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        unsigned char *bytes;
        size_t length;
        snprintf(path, sizeof path, "%s%s", CHECKPOINTS, names[k]);
        cr_assert_null(file_read(&bytes, &length, path, 1 << 24, error));
        for (size_t n = 0; n < length; n += n < 300 ? 1 : n < length - 300 ? 97 : 1) {
            unsigned char *cut = malloc(n ? n : 1);
            struct checkpoint c;
            memcpy(cut, bytes, n);
            cr_assert_not_null(checkpoint_read_memory(&c, cut, n), "%s cut to %zu of %zu bytes", names[k], n, length);
            cr_assert(c.count == 0 && c.tensors == NULL && c.error[0]);
        }
        free(bytes);
    }
}

/* ---- layers ---- */

Test(layer, finds_encoder_decoder_and_cross_attention)
{
    struct checkpoint c;
    struct layers layers;
    const struct layer *found;
    char error[SENTENCE];

    read_file(&c, "transformer.pt");
    cr_assert_null(layers_find(&layers, &c, &no_clues));
    cr_assert_eq(layers.count, 3);
    cr_assert_null(layers_named(&found, &layers, "decoder.layers.0.multihead_attn", error));
    cr_assert_eq(found, &layers.layer[2]);
    cr_assert_null(layers_named(&found, &layers, "multihead_attn", error));
    cr_assert_eq(found, &layers.layer[2]);
    cr_assert_null(layers_named(&found, &layers, "encoder.layers.0.self_attn.in_proj_weight", error));
    cr_assert_eq(found, &layers.layer[0]);
    cr_assert_not_null(layers_named(&found, &layers, "self_attn", error));
    cr_assert_str_eq(error, "self_attn: names 2 attention layers, among them encoder.layers.0.self_attn and decoder.layers.0.self_attn");
    cr_assert_not_null(layers_named(&found, &layers, "elf_attn", error));
    cr_assert_not_null(layers_named(&found, &layers, "", error));
    layers_free(&layers);
    checkpoint_free(&c);
}

Test(layer, separate_weights_and_appended_rows)
{
    struct checkpoint c;
    struct layers layers;

    read_file(&c, "separate.pt");
    cr_assert_null(layers_find(&layers, &c, &no_clues));
    cr_assert_eq(layers.count, 2);
    const struct layer *l = &layers.layer[0];
    cr_assert(layer_separate(l) && l->bias_k && l->bias_v && l->bias[0] && !l->bias[1]);
    cr_assert(l->E == 12 && l->Ek == 10 && l->Ev == 14);
    cr_assert_eq(l->numbers, 12 * 12 + 12 * 10 + 12 * 14 + 36 + 12 + 12 + 12 * 12 + 12);
    cr_assert_null(layers.layer[1].bias[0]);
    layers_free(&layers);
    checkpoint_free(&c);
}

/* split: blocks of rows and their transposes, bit for bit. */
Test(layer, split_is_the_three_blocks_and_their_transposes)
{
    struct checkpoint c;
    struct layers layers;
    struct npz z = { 0 }, packed = { 0 }, bias = { 0 };
    char error[SENTENCE], name[16];

    read_file(&c, "types.pt");
    cr_assert_null(layers_find(&layers, &c, &no_clues));
    cr_assert_eq(layers.count, 4);
    cr_assert_null(layer_split(&z, &layers.layer[0], &layout_pytorch, 1, error));
    take(&packed, &c, "f16.in_proj_weight");
    take(&bias, &c, "f16.in_proj_bias");
    cr_assert_eq(z.count, 9);
    for (size_t s = 0; s < 3; s++)
        for (size_t e = 0; e < 12; e++) {
            snprintf(name, sizeof name, "%c_bias", "qkv"[s]);
            cr_assert_eq(npz_value(npz_get(&z, name), e), npz_value(&bias.arrays[0], s * 12 + e));
            for (size_t i = 0; i < 12; i++) {
                double x = npz_value(&packed.arrays[0], (s * 12 + e) * 12 + i);
                snprintf(name, sizeof name, "%c_weight", "qkv"[s]);
                cr_assert_eq(npz_get(&z, name)->type, NPZ_F2);
                cr_assert_eq(npz_value(npz_get(&z, name), e * 12 + i), x);
                snprintf(name, sizeof name, "%c_weight_t", "qkv"[s]);
                cr_assert_eq(npz_value(npz_get(&z, name), i * 12 + e), x);
            }
        }
    npz_free(&z);
    npz_free(&packed);
    npz_free(&bias);
    layers_free(&layers);
    checkpoint_free(&c);
}

/* Seven programs' files of one layer, each taken apart by its own layout. */
Test(layer, split_undoes_every_layout)
{
    static const struct { const char *name, *layout; } kinds[] = {
        { "timm.blocks.0.attn", "qkv" }, { "megatron.layers.0.attention", "qkv,head" }, { "megatron1.layers.0.attention", "qkv,element" },
        { "gpt2.h.0.attn", "qkv,columns" }, { "blocks", "qkv,blocks" }, { "kqv", "kqv" }, { "llama.self_attn", "qkv" },
    };
    struct checkpoint c;
    struct layers layers;
    struct npz wanted = { 0 };
    char error[SENTENCE], text[LAYOUT_TEXT];

    read_file(&c, "foreign.pt");
    cr_assert_null(layers_find(&layers, &c, &no_clues));
    cr_assert_eq(layers.count, 7);
    for (size_t k = 0; k < 7; k++) {
        const struct layer *l;
        struct layout layout;
        struct npz z = { 0 };
        cr_assert_null(layers_named(&l, &layers, kinds[k].name, error), "%s", error);
        cr_assert_null(layout_parse(&layout, kinds[k].layout));
        cr_assert_str_eq(layout_text(text, &layout), kinds[k].layout);
        cr_assert_null(layer_split(&z, l, &layout, 3, error), "%s", error);
        if (!k) {
            wanted = z;
            continue;
        }
        cr_assert_eq(z.count, wanted.count);
        for (size_t a = 0; a < z.count; a++)
            cr_assert_eq(memcmp(z.arrays[a].data, wanted.arrays[a].data, z.arrays[a].size * 4), 0, "%s: %s", kinds[k].name, z.arrays[a].name);
        npz_free(&z);
    }
    npz_free(&wanted);
    layers_free(&layers);
    checkpoint_free(&c);
}

Test(layout, no_number_is_met_twice)
{
    enum { E = 12, H = 3 };
    char seen[3 * E * E];
    struct layout l;
    const struct outputs o = { E, { E, E, E }, H };

    for (int order = 0; order < LAYOUT_ORDERS; order++)
        for (int portions = 0; portions < PORTIONS; portions++)
            for (int storing = 0; storing < STORINGS; storing++) {
                layout_order(l.slot, order);
                l.shards = 2;
                l.portions = (enum portions)portions;
                l.storing = (enum storing)storing;
                memset(seen, 0, sizeof seen);
                for (int which = 0; which < 3; which++)
                    for (size_t e = 0; e < E; e++)
                        for (size_t i = 0; i < E; i++)
                            seen[layout_index(l.storing, &o, layout_output(&l, &o, which, e), i)]++;
                for (size_t m = 0; m < sizeof seen; m++)
                    cr_assert_eq(seen[m], 1);
            }
}

Test(layout, names)
{
    struct layout l;

    cr_assert_null(layout_parse(&l, "vkq,element,columns"));
    cr_assert(l.slot[0] == 2 && l.slot[1] == 1 && l.slot[2] == 0 && l.portions == PORTIONS_ELEMENT && l.storing == STORED_COLUMNS);
    cr_assert_null(layout_parse(&l, "qkv,whole,rows"));
    cr_assert_not_null(layout_parse(&l, "qkv,head,blocks"));
    cr_assert_not_null(layout_parse(&l, "qk"));
    cr_assert_not_null(layout_parse(&l, "qkq"));
    cr_assert_not_null(layout_parse(&l, ""));
    cr_assert_not_null(layout_parse(&l, "qkv,"));
    cr_assert_not_null(layout_parse(&l, "head"));
}
