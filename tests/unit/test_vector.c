/* SPDX-License-Identifier: MIT */
/* What makes a file a vector, and what is said of one that is none. */
#include "archive.h"

#include <ctype.h>
#include <math.h>

#include "../../ref/recipe/policy.h"
#include "../../ref/corpus/vector.h"

/* ---- a right case, and edits of it ---- */

static double numbers[400];
static unsigned char flags[400];

/* N=3 H=2 L=4 S=7 D=5 E=10, packed weights, all biases, no masks, batch first. Letters
 * change that: f batch second, u unbatched, s separate weights of Ek=6 and Ev=8, n no biases, k bias_k and
 * bias_v, z add_zero_attn, 2 and 3 a float attn_mask, B one of bool, p and P a padding mask of floats and of bool. */
static struct mha_in plan(const char *letters)
{
    struct mha_in in = { .N = 3, .L = 4, .S = 7, .E = 10, .Ek = 10, .Ev = 10, .H = 2, .batched = 1, .batch_first = 1,
                         .query = numbers, .key = numbers + 1, .value = numbers + 2, .in_proj_weight = numbers + 3,
                         .in_proj_bias = numbers + 4, .out_proj_weight = numbers + 5, .out_proj_bias = numbers + 6 };

    for (int k = 0; k < 400; k++) {
        numbers[k] = k % 17 - 8;
        flags[k] = k % 3 == 0;
    }
    for (; *letters; letters++)
        switch (*letters) {
        case 'f': in.batch_first = 0; break;
        case 'u': in.batched = 0; in.N = 1; break;
        case 's': in.Ek = 6; in.Ev = 8; in.in_proj_weight = NULL;
                  in.q_proj_weight = numbers + 7; in.k_proj_weight = numbers + 8; in.v_proj_weight = numbers + 9; break;
        case 'n': in.in_proj_bias = in.out_proj_bias = NULL; break;
        case 'k': in.bias_k = numbers + 10; in.bias_v = numbers + 11; break;
        case 'z': in.add_zero_attn = 1; break;
        case '2': case '3': in.attn_mask = (struct mask){ *letters - '0', NULL, numbers + 12 }; break;
        case 'B': in.attn_mask = (struct mask){ 3, flags, NULL }; break;
        case 'p': in.key_padding_mask = (struct mask){ in.batched ? 2 : 1, NULL, numbers + 13 }; break;
        default:  in.key_padding_mask = (struct mask){ in.batched ? 2 : 1, flags + 1, NULL }; break;
        }
    return in;
}

static void drop(struct npz *z, const char *name)
{
    for (size_t i = 0; i < z->count; i++)
        if (strcmp(z->arrays[i].name, name) == 0) {
            struct npz back = { 0 };
            for (size_t k = 0; k < z->count; k++)
                if (k != i) {
                    const struct npz_array *a = &z->arrays[k];
                    struct npz_array *b = npz_add(&back, a->name, a->type, a->ndim, a->shape);
                    memcpy(b->data, a->data, a->size * npz_type_size(a->type));
                }
            npz_free(z);
            *z = back;
            return;
        }
}

/* Edits, with a semicolon between: "-name" goes, "name=<f4 3,7,10" is zeros of
 * this type and shape, "name:2" has this number as its first element. */
static void edit(struct npz *z, const char *edits)
{
    char name[NPZ_NAME], *end;

    for (const char *p = edits; *p; p += *p == ';') {
        size_t gone = *p == '-', n = strcspn(p + gone, "=:;");
        snprintf(name, sizeof name, "%.*s", (int)n, p + gone);
        p += gone + n;
        if (gone)
            drop(z, name);
        else if (*p == ':') {
            struct npz_array *a = (struct npz_array *)(uintptr_t)npz_get(z, name);
            cr_assert_not_null(a, "%s", name);
            npz_set(a, 0, strtod(p + 1, &end));
            p = end;
        } else {
            size_t shape[5];
            int ndim = 0, type = 0;
            while (memcmp(npz_type_name((enum npz_type)type), p + 1, 3))
                type++;
            for (p += 4; *p && *p != ';'; p = end)
                shape[ndim++] = strtoul(p + 1, &end, 10);
            drop(z, name);
            cr_assert_not_null(npz_add(z, name, (enum npz_type)type, ndim, shape), "%s", z->error);
        }
    }
}

static const char *vector_verdict(char said[512], const char *letters, const char *edits)
{
    struct npz z = { 0 };
    struct vector v;
    struct mha_in in = plan(letters);

    cr_assert_null(vector_pack(&z, &in, 0, 0.1, NPZ_F4), "%s", z.error);
    edit(&z, edits);
    const char *wrong = vector_from(&v, &z, "test");
    snprintf(said, 512, "%s", wrong ? wrong : "");
    cr_expect_null(z.arrays, "the arrays were not taken over");
    if (wrong)
        cr_expect(!v.file.arrays && !v.numbers && !v.flags && !v.in.query, "%s: not empty", wrong);
    vector_free(&v);
    return said;
}

/* ---- what is accepted, what is refused ---- */

static const struct {
    const char *letters, *edits, *sentence;
} cases[] = {
    { "", "", "" }, { "f", "", "" }, { "u", "", "" }, { "uf", "", "" }, { "s", "", "" }, { "n", "", "" }, { "kz", "", "" },
    { "2P", "", "" }, { "3p", "", "" }, { "Bp", "", "" }, { "u2P", "", "" }, { "u3p", "", "" }, { "ufskz3P", "", "" },
    { "", "query=<f2 3,4,10;in_proj_weight=<f8 30,10", "" },
    { "k", "bias_k=<f4 10;bias_v=<f4 1,1,10", "" },
    { "s", "kdim:10;vdim:10;k_proj_weight=<f4 10,10;v_proj_weight=<f4 10,10;key=<f4 3,7,10;value=<f4 3,7,10", "" },
    { "", "query=<f4 0,4,10;key=<f4 0,7,10;value=<f4 0,7,10", "" },
    { "", "query=<f4 3,0,10", "" },
    { "2P", "key=<f4 3,0,10;value=<f4 3,0,10;attn_mask=|b1 4,0;key_padding_mask=|b1 3,0", "" },
    { "2", "is_causal:1", "" }, { "", "dropout:1", "" },
    { "", "about=|u1 0;made_by=|u1 0;dtype=|u1 0", "" },
    { "", "output=<f8 3,4,10;sigma.output=<f8 3,4,10;alt.zero_rows.output=<f8 3,4,10;"
          "alt.masked_ignored.sigma.attn_weights=<f8 3,2,4,7;q_bias=<f8 10;k_weight_t=<f8 10,10", "" },
    { "skz", "k_heads=<f8 3,2,9,5;mask=<f8 3,2,4,9;attn_weights_mean=<f8 3,4,9;k_proj=<f8 3,7,10;v_weight_t=<f8 8,10", "" },
    { "uf", "merged=<f8 1,4,10;scores=<f8 1,2,4,7", "" },

    /* configuration; A.10 rows 1, 2 (and 12), 10 */
    { "", "-format", "format: missing, wanted <i8 of shape ()" },
    { "", "-is_causal", "is_causal: missing, wanted <i8 of shape ()" },
    { "", "-dropout", "dropout: missing, wanted <f8 of shape ()" },
    { "", "embed_dim=<f4 1", "embed_dim: found <f4 of shape (1,), wanted <i8 of shape ()" },
    { "", "embed_dim=<i8 1", "embed_dim: found <i8 of shape (1,), wanted <i8 of shape ()" },
    { "", "dropout=<f4", "dropout: found <f4 of shape (), wanted <f8 of shape ()" },
    { "", "format:2", "format: found 2, wanted 1, the only format there is" },
    { "", "embed_dim:0", "embed_dim: found 0, wanted 1 to 268435456" },
    { "", "num_heads:0", "num_heads: found 0, wanted 1 to 268435456" },
    { "", "num_heads:-2", "num_heads: found -2, wanted 1 to 268435456" },
    { "", "kdim:1e18", "kdim: found 1000000000000000000, wanted 1 to 268435456" },
    { "", "vdim:0", "vdim: found 0, wanted 1 to 268435456" },
    { "", "batch_first:2", "batch_first: found 2, wanted 0 or 1" },
    { "", "add_zero_attn:-1", "add_zero_attn: found -1, wanted 0 or 1" },
    { "", "is_causal:7", "is_causal: found 7, wanted 0 or 1" },
    { "", "num_heads:4", "num_heads: found 4, which does not divide embed_dim = 10" },
    { "", "dropout:1.5", "dropout: found 1.5, wanted 0 to 1" },
    { "", "dropout:nan", "dropout: found nan, wanted 0 to 1" },
    { "", "is_causal:1", "is_causal: found 1 without attn_mask; it is a hint about the mask and no mask" },

    /* which members there are; 14, 18 */
    { "", "-query", "query: missing" },
    { "", "-out_proj.weight", "out_proj.weight: missing" },
    { "", "-in_proj_weight", "in_proj_weight: missing, and so are q_proj_weight, k_proj_weight, v_proj_weight" },
    { "", "k_proj_weight=<f4 10,10", "in_proj_weight: found together with k_proj_weight, wanted the packed weight or the three separate ones" },
    { "s", "-v_proj_weight", "v_proj_weight: missing, although there is q_proj_weight" },
    { "s", "-q_proj_weight;-k_proj_weight", "q_proj_weight: missing, although there is v_proj_weight" },
    { "", "kdim:6", "in_proj_weight: found with kdim = 6, vdim = 10 and embed_dim = 10, which are not equal; "
                    "wanted q_proj_weight, k_proj_weight, v_proj_weight" },
    { "", "-in_proj_bias", "in_proj_bias: missing, although there is out_proj.bias; wanted both or none" },
    { "", "-out_proj.bias", "out_proj.bias: missing, although there is in_proj_bias; wanted both or none" },
    { "k", "-bias_v", "bias_v: missing, although there is bias_k; wanted both or none" },
    { "k", "-bias_k", "bias_k: missing, although there is bias_v; wanted both or none" },

    /* ranks and shapes of arguments; 5, 6, 11, 13, 16, 19 */
    { "", "query=<f4 10", "query: found (10,), wanted 3 dimensions, or 2 where it is unbatched" },
    { "", "query=<f4 1,3,4,10", "query: found (1, 3, 4, 10), wanted 3 dimensions, or 2 where it is unbatched" },
    { "", "key=<f4 7,10", "key: found (7, 10), wanted 3 dimensions as query has" },
    { "", "value=<f4 7,10", "value: found (7, 10), wanted 3 dimensions as query has" },
    { "u", "key=<f4 1,7,10", "key: found (1, 7, 10), wanted 2 dimensions as query has" },
    { "", "query=<f4 3,4,9", "query: found (3, 4, 9), wanted (N, L, E) = (3, 4, 10); E is embed_dim" },
    { "f", "query=<f4 4,3,9", "query: found (4, 3, 9), wanted (L, N, E) = (4, 3, 10); E is embed_dim" },
    { "u", "query=<f4 4,9", "query: found (4, 9), wanted (L, E) = (4, 10); E is embed_dim" },
    { "", "key=<f4 3,7,6", "key: found (3, 7, 6), wanted (N, S, Ek) = (3, 7, 10); N is that of query, Ek is kdim" },
    { "", "key=<f4 2,7,10", "key: found (2, 7, 10), wanted (N, S, Ek) = (3, 7, 10); N is that of query, Ek is kdim" },
    { "f", "key=<f4 7,2,10", "key: found (7, 2, 10), wanted (S, N, Ek) = (7, 3, 10); N is that of query, Ek is kdim" },
    { "", "value=<f4 3,6,10", "value: found (3, 6, 10), wanted (N, S, Ev) = (3, 7, 10); N is that of query, S that of key, Ev is vdim" },
    { "", "value=<f4 2,7,10", "value: found (2, 7, 10), wanted (N, S, Ev) = (3, 7, 10); N is that of query, S that of key, Ev is vdim" },
    { "s", "value=<f4 3,7,6", "value: found (3, 7, 6), wanted (N, S, Ev) = (3, 7, 8); N is that of query, S that of key, Ev is vdim" },
    { "", "query=<i8 3,4,10", "query: found <i8, wanted <f4, <f8 or <f2" },
    { "", "key=|b1 3,7,10", "key: found |b1, wanted <f4, <f8 or <f2" },

    /* parameters; 15 */
    { "", "in_proj_weight=<f4 10,30", "in_proj_weight: found (10, 30), wanted (3E, E) = (30, 10); E is embed_dim" },
    { "", "in_proj_weight=<f4 20,10", "in_proj_weight: found (20, 10), wanted (3E, E) = (30, 10); E is embed_dim" },
    { "s", "q_proj_weight=<f4 10,6", "q_proj_weight: found (10, 6), wanted (E, E) = (10, 10); E is embed_dim" },
    { "s", "k_proj_weight=<f4 6,10", "k_proj_weight: found (6, 10), wanted (E, Ek) = (10, 6); E is embed_dim, Ek is kdim" },
    { "s", "v_proj_weight=<f4 10,6", "v_proj_weight: found (10, 6), wanted (E, Ev) = (10, 8); E is embed_dim, Ev is vdim" },
    { "", "in_proj_bias=<f4 10", "in_proj_bias: found (10,), wanted (3E,) = (30,); E is embed_dim" },
    { "", "in_proj_bias=<f4 3,10", "in_proj_bias: found (3, 10), wanted (3E,) = (30,); E is embed_dim" },
    { "", "out_proj.weight=<f4 4,10", "out_proj.weight: found (4, 10), wanted (E, E) = (10, 10); E is embed_dim" },
    { "", "out_proj.bias=<f4 4", "out_proj.bias: found (4,), wanted (E,) = (10,); E is embed_dim" },
    { "k", "bias_k=<f4 1,10", "bias_k: found (1, 10), wanted (1, 1, E) = (1, 1, 10) or (E,) = (10,); E is embed_dim" },
    { "k", "bias_v=<f4 1,1,5", "bias_v: found (1, 1, 5), wanted (1, 1, E) = (1, 1, 10) or (E,) = (10,); E is embed_dim" },
    { "", "out_proj.bias=|u1 10", "out_proj.bias: found |u1, wanted <f4, <f8 or <f2" },

    /* masks; 3, 7, 8, 9, 17, 21 */
    { "2", "attn_mask=<f4 4,6", "attn_mask: found (4, 6), wanted (L, S) = (4, 7) or (N*H, L, S) = (6, 4, 7); L is that of query, S that of key" },
    { "2", "attn_mask=|b1 7,4", "attn_mask: found (7, 4), wanted (L, S) = (4, 7) or (N*H, L, S) = (6, 4, 7); L is that of query, S that of key" },
    { "3", "attn_mask=<f4 3,4,7", "attn_mask: found (3, 4, 7), wanted (L, S) = (4, 7) or (N*H, L, S) = (6, 4, 7); L is that of query, S that of key" },
    { "3", "attn_mask=<f4 3,2,4,7", "attn_mask: found (3, 2, 4, 7), wanted (L, S) = (4, 7) or (N*H, L, S) = (6, 4, 7); L is that of query, S that of key" },
    { "2", "attn_mask=<f4 7", "attn_mask: found (7,), wanted (L, S) = (4, 7) or (N*H, L, S) = (6, 4, 7); L is that of query, S that of key" },
    { "u3", "attn_mask=<f4 1,4,7", "attn_mask: found (1, 4, 7), wanted (L, S) = (4, 7) or (H, L, S) = (2, 4, 7); L is that of query, S that of key" },
    { "k2", "attn_mask=<f4 4,8", "attn_mask: found (4, 8), wanted (L, S) = (4, 7) or (N*H, L, S) = (6, 4, 7); L is that of query, S that of key, "
                                 "without the appended rows, which are never masked" },
    { "2", "attn_mask=|u1 4,7", "attn_mask: found |u1, wanted |b1 (true means masked) or a float type (which is added); "
                                "convert it to bool if it says yes or no" },
    { "P", "key_padding_mask=<i8 3,7", "key_padding_mask: found <i8, wanted |b1 (true means masked) or a float type (which is added); "
                                       "convert it to bool if it says yes or no" },
    { "P", "key_padding_mask=|b1 7", "key_padding_mask: found (7,), wanted (N, S) = (3, 7); S is that of key" },
    { "P", "key_padding_mask=|b1 7,3", "key_padding_mask: found (7, 3), wanted (N, S) = (3, 7); S is that of key" },
    { "uP", "key_padding_mask=|b1 1,7", "key_padding_mask: found (1, 7), wanted (S,) = (7,); S is that of key" },
    { "zP", "key_padding_mask=|b1 3,8", "key_padding_mask: found (3, 8), wanted (N, S) = (3, 7); S is that of key, "
                                        "without the appended rows, which are never masked" },

    /* stages, alternates, envelopes, prose, and what is unknown */
    { "", "output=<f8 3,4,9", "output: found (3, 4, 9), wanted (3, 4, 10)" },
    { "f", "output=<f8 4,3,10", "output: found (4, 3, 10), wanted (3, 4, 10)" },
    { "k", "attn_weights=<f8 3,2,4,7", "attn_weights: found (3, 2, 4, 7), wanted (3, 2, 4, 8)" },
    { "", "output=<f4 3,4,10", "output: found <f4, wanted <f8" },
    { "n", "q_bias=<f8 10", "q_bias: found, although there is no in_proj_bias" },
    { "", "sigma.output=<f8 3,4", "sigma.output: found (3, 4), wanted (3, 4, 10)" },
    { "", "sigma.output=<f8 3,4,10;sigma.output:-1", "sigma.output: element 0 is -1, wanted a standard deviation" },
    { "", "sigma.output=<f8 3,4,10;sigma.output:nan", "sigma.output: element 0 is nan, wanted a standard deviation" },
    { "", "alt.zero_rows.output=<f8 1", "alt.zero_rows.output: found (1,), wanted (3, 4, 10)" },
    { "", "alt.zero.output=<f8 3,4,10", "alt.zero.output: no such policy; wanted alt.POLICY.STAGE with zero_rows, need_weights_false, mean_rows, mean_rows_bool, masked_ignored, masked_filled or scores_overflow" },
    { "", "alt.pytorch.output=<f8 3,4,10", "alt.pytorch.output: no such policy; wanted alt.POLICY.STAGE with zero_rows, need_weights_false, mean_rows, mean_rows_bool, masked_ignored, masked_filled or scores_overflow" },
    { "", "alt.zero_rows=<f8 3,4,10", "alt.zero_rows: no such policy; wanted alt.POLICY.STAGE with zero_rows, need_weights_false, mean_rows, mean_rows_bool, masked_ignored, masked_filled or scores_overflow" },
    { "", "alt.zero_rows.out=<f8 3,4,10", "alt.zero_rows.out: no stage is named out" },
    { "", "sigma.alt.zero_rows.output=<f8 3,4,10", "sigma.alt.zero_rows.output: no stage is named alt.zero_rows.output" },
    { "", "sigma.=<f8 1", "sigma.: no stage is named " },
    { "", "query_rows=<f8 3,4,10", "query_rows: no member of a vector file has this name" },
    { "", "out_weight_t=<f8 10,10", "out_weight_t: no member of a vector file has this name" },
    { "", "attn_msk=<f4 4,7", "attn_msk: no member of a vector file has this name" },
    { "", "about=<f4 3", "about: found <f4 of shape (3,), wanted text: |u1 of one dimension" },
    { "", "dtype=|u1", "dtype: found |u1 of shape (), wanted text: |u1 of one dimension" },
    { "", "made_by=|u1 3;made_by:65", "made_by: byte 1 is 0x00, wanted UTF-8 without control characters" },
    { "", "about=|u1 1;about:27", "about: byte 0 is 0x1b, wanted UTF-8 without control characters" },
    { "", "about=|u1 1;about:255", "about: byte 0 is 0xff, wanted UTF-8 without control characters" },

    /* sizes that would take the machine down; no bytes are behind the first three */
    { "", "query=<f4 100000,0,10;key=<f4 100000,0,10;value=<f4 100000,0,10", "" },
    { "", "query=<f4 20000000,0,10;key=<f4 20000000,0,10;value=<f4 20000000,0,10",
      "its stages would have 2580000740 numbers, wanted at most 268435456" },
    { "skz", "query=<f4 3,4000,10;key=<f4 3,5000,6;value=<f4 3,5000,8", "its stages would have 541778730 numbers, wanted at most 268435456" },
    { "u", "query=<f4 7000,10;key=<f4 7000,10;value=<f4 7000,10", "its stages would have 441910730 numbers, wanted at most 268435456" },
};

Test(vector, accepted_or_refused_with_a_sentence)
{
    char said[512];

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        cr_expect_str_eq(vector_verdict(said, cases[k].letters, cases[k].edits), cases[k].sentence, "\"%s\" and %s\n   said: %s",
                         cases[k].letters, cases[k].edits, said);
}

/* ---- there and back ---- */

Test(vector, pack_is_the_inverse_of_from)
{
    static const char *const all[] = { "", "f", "uf", "s", "n", "kz", "2P", "3p", "B", "u2P", "uB", "u3p", "ufskz3P" };
    static const enum npz_type types[] = { NPZ_F4, NPZ_F8, NPZ_F2 };

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int type = 0; type < 3; type++) {
            struct npz one = { 0 }, two = { 0 };
            struct mha_in in = plan(all[k]);
            struct vector v;
            cr_assert_null(vector_pack(&one, &in, in.attn_mask.ndim > 0, 0.25, types[type]));
            cr_assert_null(vector_from(&v, &one, "x"), "%s: %s", all[k], v.error);
            cr_expect_eq(v.is_causal, in.attn_mask.ndim > 0);
            cr_expect_eq(v.dropout, 0.25);
            cr_assert_null(vector_pack(&two, &v.in, v.is_causal, v.dropout, types[type]));
            cr_assert_eq(two.count, v.file.count);
            for (size_t i = 0; i < two.count; i++) {
                const struct npz_array *a = &v.file.arrays[i], *b = &two.arrays[i];
                cr_assert_str_eq(a->name, b->name);
                cr_assert(a->type == b->type && a->ndim == b->ndim && memcmp(a->shape, b->shape, sizeof a->shape) == 0, "%s", a->name);
                cr_assert_arr_eq(a->data, b->data, a->size * npz_type_size(a->type), "%s", a->name);
            }
            npz_free(&two);
            vector_free(&v);
        }
}

Test(vector, numbers_reach_their_places)
{
    struct npz z = { 0 };
    struct mha_in in = plan("fskz3P"), *got;
    struct vector v;

    cr_assert_null(vector_pack(&z, &in, 0, 0, NPZ_F4));
    cr_assert_null(vector_from(&v, &z, "core/test"), "%s", v.error);
    got = &v.in;
    cr_expect_str_eq(v.name, "core/test");
    cr_expect(got->N == 3 && got->L == 4 && got->S == 7 && got->E == 10 && got->Ek == 6 && got->Ev == 8 && got->H == 2);
    cr_expect(got->batched == 1 && got->batch_first == 0 && got->add_zero_attn == 1);
    cr_expect_arr_eq(got->query, in.query, 3 * 4 * 10 * sizeof(double));
    cr_expect_arr_eq(got->key, in.key, 3 * 7 * 6 * sizeof(double));
    cr_expect_arr_eq(got->value, in.value, 3 * 7 * 8 * sizeof(double));
    cr_expect_null(got->in_proj_weight);
    cr_expect_arr_eq(got->q_proj_weight, in.q_proj_weight, 100 * sizeof(double));
    cr_expect_arr_eq(got->k_proj_weight, in.k_proj_weight, 60 * sizeof(double));
    cr_expect_arr_eq(got->v_proj_weight, in.v_proj_weight, 80 * sizeof(double));
    cr_expect_arr_eq(got->in_proj_bias, in.in_proj_bias, 30 * sizeof(double));
    cr_expect_arr_eq(got->out_proj_weight, in.out_proj_weight, 100 * sizeof(double));
    cr_expect_arr_eq(got->out_proj_bias, in.out_proj_bias, 10 * sizeof(double));
    cr_expect_arr_eq(got->bias_k, in.bias_k, 10 * sizeof(double));
    cr_expect_arr_eq(got->bias_v, in.bias_v, 10 * sizeof(double));
    cr_expect_eq(got->attn_mask.ndim, 3);
    cr_expect_null(got->attn_mask.masked);
    cr_expect_arr_eq(got->attn_mask.added, in.attn_mask.added, 168 * sizeof(double));
    cr_expect_eq(got->key_padding_mask.ndim, 2);
    cr_expect_null(got->key_padding_mask.added);
    cr_expect_arr_eq(got->key_padding_mask.masked, in.key_padding_mask.masked, 21);
    vector_free(&v);
}

Test(vector, stages_policies_and_prose)
{
    struct npz z = { 0 };
    struct mha_in in = plan("k2");
    struct array t[STAGES];
    struct vector v;

    cr_assert_null(mha_alloc(t, &in));
    mha_forward(t, &in);
    cr_assert_null(vector_pack(&z, &in, 0, 0, NPZ_F4));
    cr_assert_null(vector_put_stages(&z, "", t));
    cr_assert_null(vector_put_stages(&z, "alt.zero_rows.", t));
    cr_assert_null(vector_put_text(&z, "about", "\xc3\xa9" "toile"));
    cr_expect_str_eq(vector_put_text(&z, "about", "twice"), "about: two members of this name");
    cr_assert_null(vector_from(&v, &z, "x"), "%s", v.error);
    cr_expect_null(npz_get(&v.file, "query_rows"));
    cr_expect_null(npz_get(&v.file, "out_weight_t"));
    const struct npz_array *output = vector_stage(&v, NULL, "", "output");
    cr_assert_not_null(output);
    cr_expect_arr_eq(output->data, t[OUTPUT].v, t[OUTPUT].size * sizeof(double));
    cr_expect_eq(vector_stage(&v, "pytorch", "", "output"), output);
    cr_expect_str_eq(vector_stage(&v, "zero_rows", "", "output")->name, "alt.zero_rows.output");
    cr_expect_null(vector_stage(&v, "masked_ignored", "", "output"));
    cr_expect_null(vector_stage(&v, NULL, "sigma.", "output"));
    cr_expect_eq(vector_has_policy(&v, "pytorch"), 1);
    cr_expect_eq(vector_has_policy(&v, "zero_rows"), 1);
    cr_expect_eq(vector_has_policy(&v, "zero"), 0);
    cr_expect_eq(vector_has_policy(&v, "masked_ignored"), 0);
    char *about = vector_text(&v, "about"), *nothing = vector_text(&v, "made_by");
    cr_expect_str_eq(about, "\xc3\xa9" "toile");
    cr_expect_str_eq(nothing, "");
    free(about);
    free(nothing);
    mha_free(t);
    vector_free(&v);
}

Test(vector, absent_biases_are_not_written)
{
    struct npz z = { 0 };
    struct mha_in in = plan("n");
    struct array t[STAGES];

    cr_assert_null(mha_alloc(t, &in));
    cr_assert_null(vector_put_stages(&z, "", t));
    cr_expect_eq(z.count, STAGES - 4 - 3);    /* the rows and the transposed out_proj.weight; three biases */
    cr_expect_null(npz_get(&z, "q_bias"));
    mha_free(t);
    npz_free(&z);
}

static double to_quarters(const void *context, double x)
{
    return rint(x * *(const double *)context) / *(const double *)context;
}

Test(vector, rounding_says_whether_it_changed_anything)
{
    struct npz z = { 0 };
    struct mha_in in = plan("2");
    struct vector v;

    numbers[12] = NAN;
    numbers[13] = -INFINITY;
    cr_assert_null(vector_pack(&z, &in, 0, 0, NPZ_F8));
    cr_assert_null(vector_from(&v, &z, "x"));
    cr_expect_eq(vector_round(&v, to_quarters, &(double){ 4 }), 0);
    cr_expect(isnan(v.in.attn_mask.added[0]) && v.in.attn_mask.added[1] == -(double)INFINITY);
    v.numbers[v.count - 1] = 0.3;    /* the last number of the mask */
    cr_expect_eq(vector_round(&v, to_quarters, &(double){ 4 }), 1);
    cr_expect_eq(v.in.attn_mask.added[27], 0.25);
    vector_free(&v);
}

Test(vector, what_the_archive_says_is_passed_on)
{
    struct vector v;
    char path[1024];

    cr_expect_str_eq(vector_read(&v, data_path(path, "bad_i4.npz"), "x"), "a: found type <i4, wanted one of <f2 <f4 <f8 <i8 |b1 |u1");
    cr_expect_str_eq(vector_read(&v, "/nowhere/at/all", "x"), "cannot be opened: No such file or directory");
    cr_expect_str_eq(vector_read(&v, data_path(path, "numpy.npz"), "x"), "format: missing, wanted <i8 of shape ()");
    cr_expect_null(v.file.arrays);
}
