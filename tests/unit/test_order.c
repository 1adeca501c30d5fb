/* SPDX-License-Identifier: MIT */
/* The order of q, k and v, proven from records of real modules. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/order.h"
#include "corpus/vector.h"

static const struct clues no_clues;

#define CHECKPOINTS QKVEC_TEST_DATA "/../../checkpoints/"

struct opened {
    struct checkpoint file;
    struct layers layers;
    const struct layer *layer;
    struct npz record;
};

static void open_layer(struct opened *o, const char *file, const char *layer, const char *record)
{
    char path[1024], error[SENTENCE];

    snprintf(path, sizeof path, "%s%s", CHECKPOINTS, file);
    cr_assert_null(checkpoint_read(&o->file, path), "%s", o->file.error);
    cr_assert_null(layers_find(&o->layers, &o->file, &no_clues));
    cr_assert_null(layers_named(&o->layer, &o->layers, layer, error), "%s", error);
    snprintf(path, sizeof path, "%s%s.io.npz", CHECKPOINTS, record);
    cr_assert_null(npz_read(&o->record, path), "%s", o->record.error);
}

static void close_layer(struct opened *o)
{
    npz_free(&o->record);
    layers_free(&o->layers);
    checkpoint_free(&o->file);
}

/* Take a member out of a record: it was not recorded. */
static void forget(struct npz *z, const char *name)
{
    struct npz_array *a = z->arrays;

    while (strcmp(a->name, name))
        a++;
    free(a->data);
    memmove(a, a + 1, (size_t)(z->arrays + z->count - a - 1) * sizeof *a);
    z->count--;
}

static void proven(const char *file, const char *layer, const char *record, const char *layout, const char *profile, int out_transposed)
{
    struct opened o;
    struct order order;
    char text[LAYOUT_TEXT];

    open_layer(&o, file, layer, record);
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, profile_named(profile)), "%s %s: %s", file, layer, order.error);
    cr_assert_eq(order.verdict, ORDER_PROVEN, "%s %s", file, layer);
    cr_assert_str_eq(layout_text(text, &order.judged[0].reading.layout), layout, "%s %s", file, layer);
    cr_assert_eq(order.judged[0].reading.out_transposed, out_transposed);
    cr_assert_lt(order.judged[0].error_sigma, 8);
    cr_assert_gt(order.judged[1].error_sigma, 100);
    close_layer(&o);
}

Test(order, every_program_and_format)
{
    static const char *const lm[] = { "lm.pt", "lm_1.13.pt", "legacy.pt", "lm.safetensors" };

    for (size_t k = 0; k < 4; k++)
        proven(lm[k], "transformer_encoder.layers.0.self_attn", "lm", "qkv", "float32", 0);    /* under a causal mask */
    proven("encoder.pt", "layers.1.self_attn", "encoder", "qkv", "float32", 0);                /* under a padding mask */
    proven("decoder.pt", "multihead_attn", "decoder", "qkv", "float32", 0);
    proven("separate.pt", "first", "separate", "qkv", "float32", 0);
    proven("separate.pt", "second", "separate_same", "qkv", "float32", 0);
    proven("views.pt", "a", "views", "qkv", "float32", 0);
    proven("foreign.pt", "megatron.layers.0.attention", "foreign", "qkv,head", "float32", 0);
    proven("foreign.pt", "megatron1.layers.0.attention", "foreign", "qkv,element", "float32", 0);
    proven("foreign.pt", "timm.blocks.0.attn", "foreign", "qkv", "float32", 0);
    proven("foreign.pt", "gpt2.h.0.attn", "foreign", "qkv,columns", "float32", 1);
    proven("foreign.pt", "blocks", "foreign", "qkv,blocks", "float32", 0);
    proven("foreign.pt", "kqv", "foreign", "kqv", "float32", 0);
    proven("foreign.pt", "llama.self_attn", "foreign", "qkv", "float32", 0);
}

Test(order, every_precision)
{
    proven("types.pt", "f16", "types.f16", "qkv", "float16", 0);
    proven("types.pt", "bf16", "types.bf16", "qkv", "bfloat16", 0);
    proven("types.pt", "f32", "types.f32", "qkv", "float32", 0);
    proven("types.pt", "f64", "types.f64", "qkv", "float64", 0);
}

Test(order, heads_and_batch_are_found_when_nobody_says_them)
{
    struct opened o;
    struct order order;

    open_layer(&o, "lm.pt", "transformer_encoder.layers.0.self_attn", "lm");
    forget(&o.record, "num_heads");
    forget(&o.record, "batch_first");
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, &profiles[PROFILE_FLOAT32]), "%s", order.error);
    cr_assert_eq(order.verdict, ORDER_PROVEN);
    cr_assert_eq(order.judged[0].reading.H, 3);
    cr_assert_eq(order.judged[0].reading.batch_first, 0);
    cr_assert_gt(order.tried, 500);
    close_layer(&o);
}

Test(order, a_wrong_number_of_heads_fits_nothing)
{
    struct opened o;
    struct order order;

    open_layer(&o, "lm.pt", "transformer_encoder.layers.0.self_attn", "lm");
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 2, &profiles[PROFILE_FLOAT32]));
    cr_assert_eq(order.verdict, ORDER_NONE);
    cr_assert_not_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 5, &profiles[PROFILE_FLOAT32]));
    cr_assert_str_eq(order.error, "5 heads do not divide the 24 outputs of q and 24 of k");
    close_layer(&o);
}

Test(order, another_layer_fits_nothing)
{
    struct opened o;
    struct order order;

    open_layer(&o, "lm.pt", "transformer_encoder.layers.1.self_attn", "lm");
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, &profiles[PROFILE_FLOAT32]));
    cr_assert_eq(order.verdict, ORDER_NONE);
    cr_assert_gt(order.judged[0].error_sigma, 1000);
    close_layer(&o);
}

Test(order, a_missing_causal_mask_is_named)
{
    struct opened o;
    struct order order;
    char text[STEPS_TEXT];

    open_layer(&o, "lm.pt", "transformer_encoder.layers.0.self_attn", "lm");
    forget(&o.record, "attn_mask");
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, &profiles[PROFILE_FLOAT32]));
    cr_assert_eq(order.verdict, ORDER_PROVEN);
    cr_assert_eq(order.judged[0].reading.steps.mask, MASK_CAUSAL);
    cr_assert_str_eq(steps_text(text, &order.judged[0].reading.steps), "causal mask (not in the record)");
    close_layer(&o);
}

/* ---- what a record cannot tell ---- */

Test(order, one_key)
{
    struct opened o;
    struct order order;

    open_layer(&o, "foreign.pt", "timm.blocks.0.attn", "foreign_one_key");
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, &profiles[PROFILE_FLOAT32]));
    cr_assert_eq(order.verdict, ORDER_CANNOT_TELL);
    cr_assert_eq(order.passed, 2);    /* q and k may be either */
    cr_assert_not_null(strstr(order.why, "one key"));
    close_layer(&o);
}

Test(order, symmetric_weights)
{
    struct opened o;
    struct order order;

    open_layer(&o, "symmetric.pt", ".", "symmetric");
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, &profiles[PROFILE_FLOAT32]));
    cr_assert_eq(order.verdict, ORDER_CANNOT_TELL);
    cr_assert_eq(order.passed, 2);
    cr_assert_not_null(strstr(order.why, "alike or symmetric"));
    close_layer(&o);
}

/* The same row again and again: every key weighs the same. */
Test(order, keys_all_alike)
{
    struct opened o;
    struct order order;
    struct vector v;
    struct weights w;
    struct array t[STAGES];

    open_layer(&o, "types.pt", "f64", "types.f64");
    struct npz_array *query = &o.record.arrays[0], *output = &o.record.arrays[0];
    for (size_t k = 0; k < o.record.count; k++) {
        struct npz_array *a = &o.record.arrays[k];
        query = strcmp(a->name, "query") ? query : a;
        output = strcmp(a->name, "output") ? output : a;
    }
    forget(&o.record, "value");
    forget(&o.record, "key");    /* both are query then */
    for (size_t k = 0; k < o.record.count; k++) {
        struct npz_array *a = &o.record.arrays[k];
        query = strcmp(a->name, "query") ? query : a;
        output = strcmp(a->name, "output") ? output : a;
    }
    for (size_t i = 12; i < query->size; i++)
        npz_set(query, i, npz_value(query, i - 12));
    char error[SENTENCE], wrong[600];
    cr_assert_null(weights_take(&w, o.layer, &o.file, error));
    cr_assert_null(reading_vector(&v, &w, &o.record, &(struct reading){ .layout = layout_pytorch, .H = 3, .G = 3, .batch_first = 1 }, wrong), "%s", wrong);
    cr_assert_null(mha_alloc(t, &v.in));
    mha_forward(t, &v.in);
    for (size_t i = 0; i < output->size; i++)
        npz_set(output, i, t[OUTPUT].v[i]);
    cr_assert_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, &profiles[PROFILE_FLOAT64]));
    cr_assert_eq(order.verdict, ORDER_CANNOT_TELL);
    cr_assert_not_null(strstr(order.why, "all keys of the record are the same row"));
    mha_free(t);
    vector_free(&v);
    weights_free(&w);
    close_layer(&o);
}

/* ---- what cannot be judged ---- */

static void no_judgement(const char *missing, const char *sentence)
{
    struct opened o;
    struct order order;

    open_layer(&o, "types.pt", "f32", "types.f32");
    forget(&o.record, missing);
    cr_assert_not_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 0, &profiles[PROFILE_FLOAT32]));
    cr_assert_not_null(strstr(order.error, sentence), "%s", order.error);
    close_layer(&o);
}

Test(order, records_that_are_none)
{
    no_judgement("query", "query: missing in the record");
    no_judgement("output", "output: missing in the record");

    struct opened o;
    struct order order;
    open_layer(&o, "types.pt", "f32", "lm");    /* of another width */
    cr_assert_not_null(order_find(&order, o.layer, &o.file, NULL, &o.record, 3, &profiles[PROFILE_FLOAT32]));
    cr_assert_not_null(strstr(order.error, "query"), "%s", order.error);
    close_layer(&o);
}
