/* SPDX-License-Identifier: MIT */
/* Each step of the recipe on numbers that can be checked on paper. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../ref/recipe/mha.h"
#include "../../ref/recipe/policy.h"

#define INF ((double)INFINITY)
#define LN3 1.0986122886681098    /* weights of a quarter and three quarters */

static struct array t[STAGES];

static void run(const struct mha_in *in, int policy)
{
    cr_assert_null(mha_alloc(t, in));
    policy_forward(t, in, policy, 65504);
}

static void done(void)
{
    mha_free(t);
}

/* Within some roundings; NaN and infinity only where they are expected. */
static void same(enum mha_stage stage, size_t size, const double *wanted, int line)
{
    cr_assert_eq(t[stage].size, size, "line %d: %s has %zu elements, wanted %zu", line, t[stage].name, t[stage].size, size);
    for (size_t i = 0; i < size; i++) {
        double x = t[stage].v[i], y = wanted[i];
        cr_expect((isnan(x) && isnan(y)) || x == y || fabs(x - y) <= 1e-14 * fabs(y), "line %d: %s[%zu] is %.17g, wanted %.17g",
                  line, t[stage].name, i, x, y);
    }
}

#define SAME(stage, ...) \
    same(stage, sizeof (double[]){ __VA_ARGS__ } / sizeof(double), (double[]){ __VA_ARGS__ }, __LINE__)

static const double identity2[] = { 1, 0, 0, 1 }, identity4[] = { 1, 0, 0, 0,  0, 1, 0, 0,  0, 0, 1, 0,  0, 0, 0, 1 };
static const double zeros[32], ones[32] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

/* Separate weights that change nothing, so that what goes in is seen in the
 * heads; one channel per head unless H is 1. */
static struct mha_in transparent(size_t N, size_t L, size_t S, size_t E, size_t H)
{
    const double *w = E == 4 ? identity4 : E == 2 ? identity2 : ones;

    return (struct mha_in){ .N = N, .L = L, .S = S, .E = E, .Ek = E, .Ev = E, .H = H, .batched = 1, .batch_first = 1,
                            .query = zeros, .key = zeros, .value = zeros, .q_proj_weight = w, .k_proj_weight = w,
                            .v_proj_weight = w, .out_proj_weight = w };
}

/* ---- split, transpose, project ---- */

Test(mha, split_takes_the_rows_of_q_then_k_then_v, .fini = done)
{
    struct mha_in in = transparent(1, 1, 1, 2, 1);

    in.in_proj_weight = (double[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    in.in_proj_bias = (double[]){ 1, 2, 3, 4, 5, 6 };
    in.q_proj_weight = in.k_proj_weight = in.v_proj_weight = NULL;
    run(&in, POLICY_PYTORCH);
    SAME(Q_WEIGHT, 1, 2, 3, 4);
    SAME(K_WEIGHT, 5, 6, 7, 8);
    SAME(V_WEIGHT, 9, 10, 11, 12);
    SAME(Q_BIAS, 1, 2);
    SAME(K_BIAS, 3, 4);
    SAME(V_BIAS, 5, 6);
}

Test(mha, transpose_makes_in_by_out_of_out_by_in, .fini = done)
{
    struct mha_in in = transparent(1, 1, 1, 2, 1);

    in.Ek = 3;
    in.Ev = 1;
    in.k_proj_weight = (double[]){ 1, 2, 3, 4, 5, 6 };
    in.v_proj_weight = (double[]){ 7, 8 };
    in.out_proj_weight = (double[]){ 1, 2, 3, 4 };
    run(&in, POLICY_PYTORCH);
    SAME(K_WEIGHT, 1, 2, 3, 4, 5, 6);
    SAME(K_WEIGHT_T, 1, 4, 2, 5, 3, 6);
    cr_expect(t[K_WEIGHT_T].shape[0] == 3 && t[K_WEIGHT_T].shape[1] == 2);
    SAME(V_WEIGHT_T, 7, 8);
    SAME(OUT_WEIGHT_T, 1, 3, 2, 4);
}

Test(mha, project_multiplies_and_adds_the_bias, .fini = done)
{
    struct mha_in in = transparent(1, 2, 1, 2, 1);

    in.in_proj_weight = (double[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    in.in_proj_bias = (double[]){ 100, 200, 300, 400, 500, 600 };
    in.query = (double[]){ 1, 10, 0, -1 };
    in.key = (double[]){ 1, 0 };
    in.value = (double[]){ 0, 1 };
    run(&in, POLICY_PYTORCH);
    SAME(Q_PROJ, 1 + 20 + 100, 3 + 40 + 200, -2 + 100, -4 + 200);
    SAME(K_PROJ, 305, 407);
    SAME(V_PROJ, 510, 612);
}

Test(mha, no_bias_is_no_stage, .fini = done)
{
    struct mha_in in = transparent(1, 1, 1, 2, 1);

    in.query = (double[]){ 5, 6 };
    run(&in, POLICY_PYTORCH);
    cr_expect(!t[Q_BIAS].v && !t[K_BIAS].v && !t[V_BIAS].v);
    SAME(Q_PROJ, 5, 6);
}

/* ---- layouts ---- */

Test(mha, three_layouts_are_one)
{
    const double batch_first[] = { 1, 2, 3, 4, 5, 6 }, batch_second[] = { 1, 4, 2, 5, 3, 6 };    /* N=2, T=3, one channel */
    struct mha_in in = transparent(2, 3, 3, 1, 1);

    in.query = in.key = in.value = batch_first;
    run(&in, POLICY_PYTORCH);
    SAME(Q_PROJ, 1, 2, 3, 4, 5, 6);
    mha_free(t);
    in.batch_first = 0;
    in.query = in.key = in.value = batch_second;
    run(&in, POLICY_PYTORCH);
    SAME(Q_PROJ, 1, 2, 3, 4, 5, 6);
    SAME(K_HEADS, 1, 2, 3, 4, 5, 6);
    SAME(V_HEADS, 1, 2, 3, 4, 5, 6);
    mha_free(t);
    for (in.N = 1, in.batched = 0; in.batch_first < 2; in.batch_first++) {
        in.query = in.key = in.value = batch_first;
        run(&in, POLICY_PYTORCH);
        SAME(Q_PROJ, 1, 2, 3);
        mha_free(t);
    }
}

/* ---- heads ---- */

Test(mha, heads_own_neighbouring_channels, .fini = done)
{
    struct mha_in in = transparent(1, 2, 1, 4, 2);

    in.query = (double[]){ 1, 2, 3, 4, 5, 6, 7, 8 };
    run(&in, POLICY_PYTORCH);
    SAME(Q_HEADS, 1, 2, 5, 6, 3, 4, 7, 8);
}

Test(mha, merge_puts_the_heads_side_by_side, .fini = done)
{
    struct mha_in in = transparent(2, 2, 1, 4, 2);

    in.value = (double[]){ 1, 2, 3, 4, 5, 6, 7, 8 };    /* one key: its value comes through */
    run(&in, POLICY_PYTORCH);
    SAME(HEAD_OUTPUTS, 1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 8, 7, 8);
    SAME(MERGED, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8);
}

/* ---- scores and masks ---- */

Test(mha, scores_are_scaled_by_the_head_dim, .fini = done)
{
    struct mha_in in = transparent(1, 1, 2, 4, 1);

    in.query = (double[]){ 1, 2, 3, 4 };
    in.key = (double[]){ 1, 1, 1, 1, 0, 0, 0, 3 };
    run(&in, POLICY_PYTORCH);
    SAME(SCORES, 10 / 2.0, 12 / 2.0);
    mha_free(t);
    in.H = 4;    /* D = 1: no scale, and each head has its own channel */
    run(&in, POLICY_PYTORCH);
    SAME(SCORES, 1, 0, 2, 0, 3, 0, 4, 12);
}

Test(mha, a_true_mask_hides_and_a_float_mask_is_added_unscaled, .fini = done)
{
    struct mha_in in = transparent(1, 2, 2, 4, 1);

    in.query = in.key = ones;
    in.attn_mask = (struct mask){ 2, (unsigned char[]){ 0, 1, 0, 0 }, NULL };
    run(&in, POLICY_PYTORCH);
    SAME(MASK, 0, -INF, 0, 0);
    SAME(SCORES, 2, 2, 2, 2);
    SAME(MASKED_SCORES, 2, -INF, 2, 2);
    SAME(ATTN_WEIGHTS, 1, 0, 0.5, 0.5);
    mha_free(t);
    in.attn_mask = (struct mask){ 2, NULL, (double[]){ 0, 1, 2, 3 } };
    run(&in, POLICY_PYTORCH);
    SAME(MASK, 0, 1, 2, 3);
    SAME(MASKED_SCORES, 2, 3, 4, 5);
}

Test(mha, mask_of_item_n_and_head_h_is_n_times_h_plus_h, .fini = done)
{
    struct mha_in in = transparent(2, 1, 2, 4, 4);
    double added[16];

    for (int k = 0; k < 16; k++)
        added[k] = k;
    in.attn_mask = (struct mask){ 3, NULL, added };
    run(&in, POLICY_PYTORCH);
    SAME(MASK, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

Test(mha, padding_hides_a_key_from_every_query_and_head_of_its_item, .fini = done)
{
    struct mha_in in = transparent(2, 2, 2, 2, 2);

    in.key_padding_mask = (struct mask){ 2, (unsigned char[]){ 0, 1, 0, 0 }, NULL };
    run(&in, POLICY_PYTORCH);
    SAME(MASK, 0, -INF, 0, -INF, 0, -INF, 0, -INF, 0, 0, 0, 0, 0, 0, 0, 0);
}

Test(mha, both_masks_are_added_to_each_other, .fini = done)
{
    struct mha_in in = transparent(1, 2, 3, 1, 1);

    in.attn_mask = (struct mask){ 2, NULL, (double[]){ 1, 2, 3, 4, 5, -INF } };
    in.key_padding_mask = (struct mask){ 2, NULL, (double[]){ 10, -INF, 30 } };
    run(&in, POLICY_PYTORCH);
    SAME(MASK, 11, -INF, 33, 14, -INF, -INF);
    mha_free(t);
    in.key_padding_mask = (struct mask){ 2, (unsigned char[]){ 1, 0, 0 }, NULL };
    run(&in, POLICY_PYTORCH);
    SAME(MASK, -INF, 2, 3, -INF, 5, -INF);
}

/* ---- softmax, mix, output, mean ---- */

/* Scores of 0 and ln 3, by a mask, in both orders. */
static struct mha_in quarters(void)
{
    static const double mask[] = { 0, LN3, LN3, 0 }, value[] = { 8, 16 };
    struct mha_in in = transparent(1, 2, 2, 1, 1);

    in.value = value;
    in.attn_mask = (struct mask){ 2, NULL, mask };
    return in;
}

Test(mha, softmax_is_over_the_keys_and_mix_weighs_the_values, .fini = done)
{
    struct mha_in in = quarters();

    run(&in, POLICY_PYTORCH);
    SAME(ATTN_WEIGHTS, 0.25, 0.75, 0.75, 0.25);
    SAME(HEAD_OUTPUTS, 2 + 12, 6 + 4);
}

Test(mha, softmax_does_not_overflow, .fini = done)
{
    struct mha_in in = quarters();

    in.attn_mask.added = (double[]){ 1e6, 1e6 + 1e-300, -1e6, -1e6 };
    run(&in, POLICY_PYTORCH);
    SAME(ATTN_WEIGHTS, 0.5, 0.5, 0.5, 0.5);
    mha_free(t);
    in.attn_mask.added = (double[]){ -1e6, 1e6, 0, -INF };
    run(&in, POLICY_PYTORCH);
    SAME(ATTN_WEIGHTS, 0, 1, 1, 0);
}

Test(mha, output_is_projected_by_out_proj, .fini = done)
{
    struct mha_in in = transparent(1, 1, 1, 2, 2);

    in.value = (double[]){ 10, 1 };
    in.out_proj_weight = (double[]){ 1, 2, 3, 4 };
    in.out_proj_bias = (double[]){ 100, 200 };
    run(&in, POLICY_PYTORCH);
    SAME(MERGED, 10, 1);
    SAME(OUTPUT, 112, 234);
}

Test(mha, weights_are_averaged_over_the_heads_alone, .fini = done)
{
    struct mha_in in = transparent(2, 1, 2, 2, 2);

    in.attn_mask = (struct mask){ 3, NULL, (double[]){ 0, LN3, LN3, 0, 0, LN3, 0, LN3 } };
    run(&in, POLICY_PYTORCH);
    SAME(ATTN_WEIGHTS, 0.25, 0.75, 0.75, 0.25, 0.25, 0.75, 0.25, 0.75);
    SAME(ATTN_WEIGHTS_MEAN, 0.5, 0.5, 0.25, 0.75);
}

/* ---- appended rows ---- */

Test(mha, bias_row_then_zero_row_follow_the_keys_unprojected_and_unmasked, .fini = done)
{
    struct mha_in in = transparent(2, 1, 1, 2, 2);

    in.k_proj_weight = in.v_proj_weight = (double[]){ 2, 0, 0, 2 };
    in.key = (double[]){ 1, 2, 3, 4 };
    in.value = (double[]){ 5, 6, 7, 8 };
    in.bias_k = (double[]){ 50, 60 };
    in.bias_v = (double[]){ 70, 80 };
    in.add_zero_attn = 1;
    in.attn_mask = (struct mask){ 2, (unsigned char[]){ 1 }, NULL };
    in.key_padding_mask = (struct mask){ 2, NULL, (double[]){ 1, 2 } };
    run(&in, POLICY_PYTORCH);
    SAME(K_PROJ, 2, 4, 6, 8);
    SAME(K_HEADS, 2, 50, 0, 4, 60, 0, 6, 50, 0, 8, 60, 0);
    SAME(V_HEADS, 10, 70, 0, 12, 80, 0, 14, 70, 0, 16, 80, 0);
    SAME(MASK, -INF, 0, 0, -INF, 0, 0, -INF, 0, 0, -INF, 0, 0);
    SAME(ATTN_WEIGHTS, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5);
    SAME(OUTPUT, 35, 40, 35, 40);
    SAME(ATTN_WEIGHTS_MEAN, 0, 0.5, 0.5, 0, 0.5, 0.5);
}

Test(mha, zero_row_alone, .fini = done)
{
    struct mha_in in = transparent(1, 1, 1, 1, 1);

    in.key = in.value = (double[]){ 4 };
    in.add_zero_attn = 1;
    run(&in, POLICY_PYTORCH);
    SAME(K_HEADS, 4, 0);
    SAME(OUTPUT, 2);
}

/* ---- where there is more than one answer ---- */

static struct mha_in closed_row(void)
{
    static const unsigned char mask[] = { 1, 1, 0, 1 };
    static const double value[] = { 8, 16 }, bias[] = { 3 };
    struct mha_in in = transparent(1, 2, 2, 1, 1);

    in.value = value;
    in.out_proj_bias = bias;
    in.attn_mask = (struct mask){ 2, mask, NULL };
    return in;
}

Test(mha, a_closed_row_is_nan, .fini = done)
{
    struct mha_in in = closed_row();

    run(&in, POLICY_PYTORCH);
    SAME(ATTN_WEIGHTS, NAN, NAN, 1, 0);
    SAME(OUTPUT, NAN, 11);
}

Test(mha, zero_rows_leaves_the_bias, .fini = done)
{
    struct mha_in in = closed_row();

    run(&in, POLICY_ZERO_ROWS);
    SAME(ATTN_WEIGHTS, 0, 0, 1, 0);
    SAME(HEAD_OUTPUTS, 0, 8);
    SAME(OUTPUT, 3, 11);
    SAME(ATTN_WEIGHTS_MEAN, 0, 0, 1, 0);
}

/* Key 1 is hidden from every query, key 0 from one of them only. */
Test(mha, nan_behind_a_mask, .fini = done)
{
    struct mha_in in = transparent(1, 2, 3, 1, 1);

    in.value = (double[]){ 8, NAN, 16 };
    in.attn_mask = (struct mask){ 2, (unsigned char[]){ 0, 1, 0, 1, 1, 0 }, NULL };
    run(&in, POLICY_PYTORCH);
    SAME(ATTN_WEIGHTS, 0.5, 0, 0.5, 0, 0, 1);
    SAME(OUTPUT, NAN, NAN);
    mha_free(t);
    run(&in, POLICY_MASKED_IGNORED);
    SAME(V_HEADS, 8, NAN, 16);    /* as projected: the policy is about the core */
    SAME(OUTPUT, 12, 16);
    mha_free(t);
    in.value = (double[]){ NAN, 8, 16 };    /* seen by query 0: no policy hides it from query 1 */
    run(&in, POLICY_MASKED_IGNORED);
    SAME(OUTPUT, NAN, NAN);
}

/* ---- room ---- */

Test(mha, no_keys_leave_the_bias_and_no_queries_leave_nothing, .fini = done)
{
    struct mha_in in = transparent(2, 1, 0, 1, 1);

    in.out_proj_bias = (double[]){ 3 };
    run(&in, POLICY_PYTORCH);
    SAME(OUTPUT, 3, 3);
    cr_expect_eq(t[ATTN_WEIGHTS].size, 0);
    mha_free(t);
    in.N = 0;
    run(&in, POLICY_PYTORCH);
    cr_expect(t[OUTPUT].size == 0 && t[OUTPUT].v != NULL, "an empty stage exists too");
}

Test(mha, every_stage_has_a_name_and_its_shape, .fini = done)
{
    struct mha_in in = transparent(3, 4, 7, 4, 2);

    in.in_proj_bias = zeros;
    in.bias_k = in.bias_v = zeros;
    in.add_zero_attn = 1;
    cr_assert_null(mha_alloc(t, &in));
    for (int k = 0; k < STAGES; k++) {
        size_t size = 1;
        for (int d = 0; d < 4; d++) {
            size *= t[k].shape[d];
            cr_expect(d < t[k].ndim || t[k].shape[d] == 1, "%s", t[k].name);
        }
        cr_expect_eq(t[k].size, size, "%s", t[k].name);
        cr_expect(t[k].v && t[k].ndim >= 1 && t[k].ndim <= 4);
    }
    const size_t scores[] = { 3, 2, 4, 9 };
    cr_expect_str_eq(t[SCORES].name, "scores");
    cr_expect_arr_eq(t[SCORES].shape, scores, sizeof scores);
    cr_expect_eq(t[Q_BIAS].ndim, 1);
    cr_expect_eq(t[ATTN_WEIGHTS_MEAN].size, 3 * 4 * 9);

    struct array bare[STAGES];
    cr_assert_null(mha_shapes(bare, &in));
    for (int k = 0; k < STAGES; k++) {
        cr_expect_null(bare[k].v);
        cr_expect_str_eq(bare[k].name, t[k].name);
        cr_expect_arr_eq(bare[k].shape, t[k].shape, sizeof t[k].shape);
        cr_expect(bare[k].size == t[k].size && bare[k].ndim == t[k].ndim);
    }
}

Test(mha, numbers_start_with_a_cache_line, .fini = done)
{
    struct mha_in in = transparent(1, 3, 5, 7, 1);

    cr_assert_null(mha_alloc(t, &in));
    for (int k = 0; k < STAGES; k++)
        cr_expect(!t[k].v || (uintptr_t)t[k].v % CACHE_LINE == 0, "%s", t[k].name);
    cr_expect_null(t[Q_BIAS].v);
}

Test(mha, sizes_that_overflow_are_refused)
{
    struct mha_in in = transparent(SIZE_MAX / 8, 3, 1, 1, 1);

    cr_expect_str_eq(mha_alloc(t, &in), "not enough memory for the stages");
    for (int k = 0; k < STAGES; k++)
        cr_expect_null(t[k].v);
}
