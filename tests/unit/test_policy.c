/* SPDX-License-Identifier: MIT */
/* Combinations of policies, the answers they give, and one for a whole run. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "judge/judge.h"

Test(policy, combinations)
{
    size_t count = policy_combinations();
    uint64_t conformant = policy_allowed(0);
    uint32_t all = (1u << POLICIES) - 1;

    cr_assert_leq(count, 64);    /* a set of them is a uint64_t */
    for (int k = 0; k < POLICIES; k++) {
        size_t alone = policy_alone(k);
        cr_expect_eq(policy_single(alone), k);
        cr_expect_eq(policy_first(alone), &policies[k]);
        cr_expect_eq(conformant >> alone & 1, (uint64_t)policies[k].conformant);
        cr_expect_eq(policy_allowed(1u << k) >> alone & 1, 1);
        cr_expect_eq(policy_named(policies[k].name), &policies[k]);
        if (k) {
            cr_expect_eq(policy_restricted(alone, 1u << policies[k].question), alone);
            cr_expect_eq(policy_restricted(alone, 7u & ~(1u << policies[k].question)), 0);
        }
    }
    cr_expect_eq(policy_allowed(all), count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1);
    cr_expect_null(policy_named("mean"));

    size_t both = policy_alone(POLICY_ZERO_ROWS) + policy_alone(POLICY_SCORES_OVERFLOW);
    cr_expect_eq(policy_single(both), POLICIES);
    cr_expect_eq(policy_of(both, QUESTION_OVERFLOW), POLICY_SCORES_OVERFLOW);
    cr_expect_eq(policy_restricted(both, 1u << QUESTION_ROWS), policy_alone(POLICY_ZERO_ROWS));
    cr_expect_eq(policy_reduced(both, ~(uint64_t)0), 0);
    cr_expect_eq(policy_reduced(both, (uint64_t)1 << policy_alone(POLICY_MEAN_ROWS) | (uint64_t)1 << policy_alone(POLICY_ZERO_ROWS)),
                 policy_alone(POLICY_ZERO_ROWS));
    cr_expect_eq(policy_reduced(both, 0), both);
}

/* E = H * D = 2 * 1, weights of 1 on the diagonal, no bias; two queries and two keys. */
static const double eye3[12] = { 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1 }, eye[4] = { 1, 0, 0, 1 };
static double query[4], key[4], value[4];

static struct mha_in layer(void)
{
    memcpy(query, (double[]){ 1, 2, 3, 4 }, sizeof query);
    memcpy(key, (double[]){ 1, -1, 2, .5 }, sizeof key);
    memcpy(value, (double[]){ 10, 20, 30, 60 }, sizeof value);
    return (struct mha_in){ .N = 1, .L = 2, .S = 2, .E = 2, .Ek = 2, .Ev = 2, .H = 2, .batched = 1, .batch_first = 1,
                            .query = query, .key = key, .value = value, .in_proj_weight = eye3, .out_proj_weight = eye };
}

/* output (2,2) under a policy. */
static void expect(const struct mha_in *in, int policy, double largest, double a, double b, double c, double d)
{
    struct array t[STAGES];
    double want[4] = { a, b, c, d };

    cr_assert_null(mha_alloc(t, in));
    policy_forward(t, in, policy, largest);
    for (int m = 0; m < 4; m++)
        cr_expect(isnan(want[m]) ? isnan(t[OUTPUT].v[m]) : fabs(t[OUTPUT].v[m] - want[m]) < 1e-9, "%s, element %d: %g, wanted %g",
                  policies[policy].name, m, t[OUTPUT].v[m], want[m]);
    mha_free(t);
}

Test(policy, rows_without_an_open_key)
{
    static const unsigned char closed[4] = { 1, 1, 0, 1 };
    static const double lowered[4] = { -INFINITY, -INFINITY, 0, -INFINITY }, bias[6] = { 0 };
    struct mha_in in = layer();

    in.attn_mask = (struct mask){ .ndim = 2, .masked = closed };
    expect(&in, POLICY_PYTORCH, 1e30, NAN, NAN, 10, 20);
    expect(&in, POLICY_ZERO_ROWS, 1e30, 0, 0, 10, 20);
    expect(&in, POLICY_NEED_WEIGHTS_FALSE, 1e30, 0, 0, 10, 20);
    expect(&in, POLICY_MEAN_ROWS, 1e30, 20, 40, 10, 20);
    expect(&in, POLICY_MEAN_ROWS_BOOL, 1e30, 20, 40, 10, 20);

    in.attn_mask = (struct mask){ .ndim = 2, .added = lowered };
    expect(&in, POLICY_MEAN_ROWS, 1e30, 20, 40, 10, 20);
    expect(&in, POLICY_MEAN_ROWS_BOOL, 1e30, NAN, NAN, 10, 20);

    /* the inference path: query is key is value, a bias, bool masks */
    in.attn_mask = (struct mask){ .ndim = 2, .masked = closed };
    in.in_proj_bias = bias;
    in.key = in.value = in.query;
    expect(&in, POLICY_NEED_WEIGHTS_FALSE, 1e30, NAN, NAN, 1, 2);
    expect(&in, POLICY_ZERO_ROWS, 1e30, 0, 0, 1, 2);
    in.batch_first = 0;
    in.N = 1;
    expect(&in, POLICY_NEED_WEIGHTS_FALSE, 1e30, 0, 0, 1, 2);
    in.batch_first = 1;
    in.attn_mask = (struct mask){ .ndim = 2, .added = lowered };
    expect(&in, POLICY_NEED_WEIGHTS_FALSE, 1e30, 0, 0, 1, 2);
}

Test(policy, nan_in_masked_keys_and_values)
{
    static const unsigned char always[4] = { 0, 1, 0, 1 }, once[4] = { 0, 1, 0, 0 };
    struct mha_in in = layer();

    in.attn_mask = (struct mask){ .ndim = 2, .masked = always };
    key[2] = NAN;    /* key 1; its projection is NaN in every channel */
    expect(&in, POLICY_PYTORCH, 1e30, NAN, NAN, NAN, NAN);
    expect(&in, POLICY_MASKED_IGNORED, 1e30, 10, 20, 10, 20);
    expect(&in, POLICY_MASKED_FILLED, 1e30, 10, 20, 10, 20);
    value[2] = NAN;
    expect(&in, POLICY_MASKED_IGNORED, 1e30, 10, 20, 10, 20);
    expect(&in, POLICY_MASKED_FILLED, 1e30, NAN, NAN, NAN, NAN);
    value[2] = 30;
    in.attn_mask.masked = once;    /* the second query sees key 1 */
    struct array t[STAGES];
    cr_assert_null(mha_alloc(t, &in));
    policy_forward(t, &in, POLICY_MASKED_FILLED, 1e30);
    cr_expect_eq(t[OUTPUT].v[0], 10);
    cr_expect(isnan(t[OUTPUT].v[2]));
    policy_forward(t, &in, POLICY_MASKED_IGNORED, 1e30);
    cr_expect(isnan(t[OUTPUT].v[0]) && isnan(t[OUTPUT].v[2]));
    mha_free(t);
}

Test(policy, scores_that_overflow)
{
    struct mha_in in = layer();
    struct array t[STAGES];

    /* D = 1: scores of head 0: 1 2 / 3 6; of head 1: -2 1 / -4 2 */
    expect(&in, POLICY_SCORES_OVERFLOW, 1e30, 10 + 20 / (1 + exp(-1)), 20 + 40 / (1 + exp(-3)), 10 + 20 / (1 + exp(-3)), 20 + 40 / (1 + exp(-6)));
    cr_assert_null(mha_alloc(t, &in));
    mha_forward(t, &in);
    cr_expect_eq(policy_questions(t, 6), 0);    /* 6 is still a number */
    cr_expect_eq(policy_questions(t, 5.9), 1u << QUESTION_OVERFLOW);
    mha_free(t);
    expect(&in, POLICY_SCORES_OVERFLOW, 5, 10 + 20 / (1 + exp(-1)), 20 + 40 / (1 + exp(-3)), NAN, NAN);    /* 6 became +inf */
    key[2] = .5;    /* 3 1.5 in place of 3 6 */
    expect(&in, POLICY_SCORES_OVERFLOW, 3.5, 10 + 20 / (1 + exp(.5)), 20 + 40 / (1 + exp(-3)), 10 + 20 / (1 + exp(1.5)), 60);    /* -4 became -inf */
}

static struct verdict fitting(const char *vector, uint64_t fits)
{
    struct verdict v = { .outcome = fits ? OUTCOME_PASS : OUTCOME_FAIL, .profile = &profiles[PROFILE_FLOAT32], .fits = fits };

    strcpy(v.vector, vector);
    strcpy(v.reason, fits ? "" : "wrong numbers");
    return v;
}

Test(policy, one_for_a_run)
{
    const uint64_t pytorch = 1, zero = (uint64_t)1 << policy_alone(POLICY_ZERO_ROWS), mean = (uint64_t)1 << policy_alone(POLICY_MEAN_ROWS);
    const uint64_t any = pytorch | zero | mean;
    struct verdict v[4] = { fitting("a", any), fitting("b", zero), fitting("c", 0), fitting("d", zero) };

    cr_expect_eq(verdicts_keep_to_one(v, 4, policy_allowed(0)), policy_alone(POLICY_ZERO_ROWS));
    cr_expect(v[0].outcome == OUTCOME_PASS && v[0].policy == &policies[POLICY_PYTORCH]);    /* nothing shows here */
    cr_expect(v[1].outcome == OUTCOME_PASS && v[1].policy == &policies[POLICY_ZERO_ROWS]);
    cr_expect(v[2].outcome == OUTCOME_FAIL && !v[2].is_policy && !strcmp(v[2].reason, "wrong numbers"));

    v[0] = fitting("a", pytorch);
    verdicts_keep_to_one(v, 4, policy_allowed(0));
    cr_expect(v[0].outcome == OUTCOME_FAIL && v[0].is_policy);
    cr_expect_str_eq(v[0].reason, "a kernel keeps to one policy: found pytorch in this one, zero_rows in others");

    /* a policy that is not conformant passes only where it is allowed */
    struct verdict w[2] = { fitting("a", any), fitting("b", mean) };
    verdicts_keep_to_one(w, 2, policy_allowed(0));
    cr_expect(w[0].outcome == OUTCOME_PASS);
    cr_expect(w[1].outcome == OUTCOME_FAIL && w[1].is_policy && strstr(w[1].reason, "--allow mean_rows"));
    verdicts_keep_to_one(w, 2, policy_allowed(1u << POLICY_MEAN_ROWS));
    cr_expect(w[1].outcome == OUTCOME_PASS && !w[1].is_policy);
}
