/* SPDX-License-Identifier: MIT */
/* Classes, bounds, shapes, noise; then policies and verdicts. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "judge/judge.h"

static const struct profile *f32(void)
{
    return &profiles[PROFILE_FLOAT32];
}

static struct array array(double *v, int ndim, size_t n0, size_t n1, size_t n2)
{
    return (struct array){ "output", ndim, { n0, n1, n2, 1 }, n0 * n1 * n2, v };
}

static struct comparison compare(double got, double expected, double sigma)
{
    struct comparison c;
    struct array g = array(&got, 3, 1, 1, 1), e = array(&expected, 3, 1, 1, 1), s = array(&sigma, 3, 1, 1, 1);
    compare_stage(&c, OUTPUT, &g, &e, &s, f32());
    return c;
}

Test(compare, eight_sigma_and_the_floor)
{
    cr_assert(compare(1 + 8 * 0x1p-20, 1, 0x1p-20).passed);
    cr_assert_not(compare(1 + 8.01 * 0x1p-20, 1, 0x1p-20).passed);
    cr_assert_not(compare(1 - 8.01 * 0x1p-20, 1, 0x1p-20).passed);
    cr_assert(compare(0x1p-124, 0, 0).passed);                        /* sigma 0: the floor is left */
    cr_assert_not(compare(0x1.1p-124, 0, 0).passed);
    cr_assert_not(compare(1 + 0x1p-52, 1, 0).passed);
}

Test(compare, classes_match_only_themselves)
{
    const double class[] = { NAN, INFINITY, -INFINITY, 0, 1 };

    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            cr_assert_eq(compare(class[a], class[b], 0x1p-20).passed, a == b, "%g against %g", class[a], class[b]);
    cr_assert(compare(-NAN, NAN, 0).passed);
    cr_assert(compare(-0.0, 0.0, 0).passed);
    cr_assert_eq(compare(NAN, 1, 1).worst.error_sigma, INFINITY);
}

Test(compare, points_at_the_worst_element)
{
    double got[] = { 0, 1, 2, 3, 4, 9 }, want[] = { 0, 1, 2, 3.5, 4, 5 }, sigma[] = { 1, 1, 1, .01, 1, .01 };
    struct array g = array(got, 3, 1, 2, 3), e = array(want, 3, 1, 2, 3), s = array(sigma, 3, 1, 2, 3);
    struct comparison c;

    compare_stage(&c, OUTPUT, &g, &e, &s, f32());
    cr_assert_eq(c.wrong, 2);
    cr_assert_eq(c.worst.index[0], 0);
    cr_assert_eq(c.worst.index[1], 1);
    cr_assert_eq(c.worst.index[2], 2);
    cr_assert_eq(c.worst.got, 9);
    cr_assert_eq(c.worst.expected, 5);
    cr_assert_str_eq(c.reason, "output: 2 of 6 elements are beyond 8 sigma");
}

static void wrong_shape(struct array got, struct array wanted, const char *reason)
{
    struct comparison c;

    compare_stage(&c, OUTPUT, &got, &wanted, &wanted, f32());
    cr_assert_not(c.passed);
    cr_assert_str_eq(c.reason, reason);
}

Test(compare, shapes_come_before_values)
{
    double v[60] = { 0 };

    wrong_shape(array(v, 3, 4, 3, 5), array(v, 3, 3, 4, 5),
                "output: found shape (4, 3, 5), wanted (N, L, E) = (3, 4, 5); it looks like (L, N, E): transpose it");
    wrong_shape(array(v, 3, 3, 5, 4), array(v, 3, 3, 4, 5),
                "output: found shape (3, 5, 4), wanted (N, L, E) = (3, 4, 5); it looks like (N, E, L): transpose it");
    wrong_shape(array(v, 2, 4, 5, 1), array(v, 3, 1, 4, 5),
                "output: found shape (4, 5), wanted (N, L, E) = (1, 4, 5); unbatched results have N = 1 in front");
    wrong_shape(array(v, 3, 3, 4, 4), array(v, 3, 3, 4, 5), "output: found shape (3, 4, 4), wanted (N, L, E) = (3, 4, 5)");
    wrong_shape(array(v, 1, 60, 1, 1), array(v, 3, 3, 4, 5), "output: found shape (60,), wanted (N, L, E) = (3, 4, 5)");
}

Test(compare, empty_stages_pass_by_their_shape)
{
    struct array none = array(NULL, 3, 2, 0, 5), other = array(NULL, 3, 0, 2, 5);
    struct comparison c;

    compare_stage(&c, OUTPUT, &none, &none, &none, f32());
    cr_assert(c.passed);
    compare_stage(&c, OUTPUT, &other, &none, &none, f32());
    cr_assert_not(c.passed);
}

/* count elements that are all off by the same number of sigma */
static int noisy_numbers(size_t count, double sigmas, double step)
{
    double got[128], want[128], sigma[128];
    struct array g = array(got, 3, 1, 1, count), e = array(want, 3, 1, 1, count), s = array(sigma, 3, 1, 1, count);
    struct comparison c;

    for (size_t m = 0; m < count; m++) {
        want[m] = 1 + step * (double)m;
        sigma[m] = 0x1p-20;
        got[m] = want[m] + sigmas * 0x1p-20 * (m % 2 ? -1 : 1);
    }
    compare_stage(&c, OUTPUT, &g, &e, &s, f32());
    return !c.passed;
}

static int noisy(size_t count, double sigmas)
{
    return noisy_numbers(count, sigmas, 0x1p-6);
}

Test(compare, noise_everywhere_is_a_finding)
{
    cr_assert_not(noisy(64, 1.9));
    cr_assert(noisy(64, 2.1));
    cr_assert(noisy(128, 2.1));
    cr_assert_not(noisy(63, 2.1));      /* too few to tell */
    cr_assert_not(noisy_numbers(128, 2.1, 0));         /* one number, 128 times */
    cr_assert_not(noisy_numbers(128, 2.1, 0x1p-12));   /* nearly so */
}

/* ---- verdicts: a case without golden stages, judged against the reference ---- */

static const double query[4] = { 1, .5, -1, .25 }, key[6] = { .5, 1, -.25, 2, 1, -1 }, value[6] = { 3, 1, -2, .5, .75, 1 };
static const double in_w[12] = { 1, .5, 0, 1, .25, 1, 1, 0, 1, -1, .5, 2 }, out_w[4] = { 1, 2, -1, .5 }, out_b[2] = { .25, -.5 };

static struct vector vector(void)
{
    struct vector v = { .name = "case" };
    v.in = (struct mha_in){ .N = 1, .L = 2, .S = 3, .E = 2, .Ek = 2, .Ev = 2, .H = 1, .batched = 1, .batch_first = 1,
                            .query = query, .key = key, .value = value, .in_proj_weight = in_w,
                            .out_proj_weight = out_w, .out_proj_bias = out_b };
    return v;
}

static void forward(struct array got[STAGES], const struct vector *v, int policy)
{
    cr_assert_null(mha_alloc(got, &v->in));
    policy_forward(got, &v->in, policy, profiles[PROFILE_FLOAT16].largest);
}

static void keep_only(struct array got[STAGES], enum mha_stage keep)
{
    for (int k = 0; k < STAGES; k++)
        if (k != (int)keep) {
            struct array *a = &got[k];
            free(a->v);
            a->v = NULL;
        }
}

Test(judge, the_reference_meets_float64)
{
    struct vector v = vector();
    struct array got[STAGES];
    struct verdict verdict;

    forward(got, &v, POLICY_PYTORCH);
    judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
    cr_assert_eq(verdict.outcome, OUTCOME_PASS);
    cr_assert_str_eq(verdict.meets->name, "float64");
    cr_assert_str_eq(verdict.policy->name, "pytorch");
    cr_assert_eq(verdict.first_wrong, STAGES);
    cr_assert(verdict.judged & 1u << OUTPUT);
    mha_free(got);
}

Test(judge, names_the_precision_that_is_met)
{
    struct vector v = vector();
    struct array got[STAGES], sigma[STAGES];
    struct verdict verdict;

    forward(got, &v, POLICY_PYTORCH);
    cr_assert_null(mha_alloc(sigma, &v.in));
    cr_assert_null(envelope(sigma, got, &v.in, &profiles[PROFILE_BFLOAT16], SCOPE_LAYER));
    keep_only(got, OUTPUT);
    for (size_t m = 0; m < got[OUTPUT].size; m++)
        got[OUTPUT].v[m] += 4 * sigma[OUTPUT].v[m];
    judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
    cr_assert_eq(verdict.outcome, OUTCOME_FAIL);
    cr_assert_eq(verdict.first_wrong, OUTPUT);
    cr_assert_not_null(verdict.meets);
    cr_assert_str_eq(verdict.meets->name, "bfloat16");
    mha_free(got);
    mha_free(sigma);
}

Test(judge, wants_an_output)
{
    struct vector v = vector();
    struct array got[STAGES];
    struct verdict verdict;

    forward(got, &v, POLICY_PYTORCH);
    keep_only(got, ATTN_WEIGHTS);
    judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
    cr_assert_eq(verdict.outcome, OUTCOME_FAIL);
    cr_assert_str_eq(verdict.reason, "output: not given, and it is the one that must be");
    mha_free(got);
}

Test(judge, finds_the_first_wrong_stage)
{
    struct vector v = vector();
    struct array got[STAGES];
    struct verdict verdict;

    forward(got, &v, POLICY_PYTORCH);
    got[SCORES].v[4] += 1;
    got[OUTPUT].v[0] += 1;
    judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
    cr_assert_eq(verdict.outcome, OUTCOME_FAIL);
    cr_assert_eq(verdict.first_wrong, SCORES);
    cr_assert_eq(verdict.worst.index[2], 1);
    cr_assert_eq(verdict.worst.index[3], 1);
    cr_assert_null(verdict.meets);
    mha_free(got);
}

Test(judge, two_answers_to_a_fully_masked_row_and_no_third)
{
    struct vector v = vector();
    struct array got[STAGES];
    struct verdict verdict;
    static const unsigned char hidden[6] = { 1, 1, 1, 0, 0, 1 };

    v.in.attn_mask = (struct mask){ .ndim = 2, .masked = hidden };
    for (int policy = POLICY_PYTORCH; policy <= POLICY_ZERO_ROWS; policy++) {
        forward(got, &v, policy);
        judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
        cr_assert_eq(verdict.outcome, OUTCOME_PASS);
        cr_assert_eq(verdict.policy, &policies[policy]);
        mha_free(got);
    }
    forward(got, &v, POLICY_ZERO_ROWS);
    for (int j = 0; j < 3; j++)
        got[ATTN_WEIGHTS].v[j] = 1.0 / 3;                             /* the uniform mean */
    judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
    cr_assert_eq(verdict.outcome, OUTCOME_FAIL);
    mha_free(got);
    forward(got, &v, POLICY_ZERO_ROWS);
    for (int d = 0; d < 2; d++)
        got[OUTPUT].v[d] = NAN;                                       /* one policy for the weights, another for the output */
    judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
    cr_assert_eq(verdict.outcome, OUTCOME_FAIL);
    mha_free(got);
}

Test(judge, nan_in_a_masked_key_may_be_ignored)
{
    struct vector v = vector();
    struct array got[STAGES];
    struct verdict verdict;
    double bad[6] = { .5, 1, NAN, 2, 1, -1 };
    static const unsigned char hidden[3] = { 0, 1, 0 };

    v.in.key = bad;
    v.in.key_padding_mask = (struct mask){ .ndim = 2, .masked = hidden };
    for (int policy = POLICY_PYTORCH; policy <= POLICY_MASKED_IGNORED; policy += POLICY_MASKED_IGNORED) {
        forward(got, &v, policy);
        keep_only(got, OUTPUT);
        cr_assert_eq(isnan(got[OUTPUT].v[0]) != 0, policy == POLICY_PYTORCH);
        judge(&verdict, &v, 0, got, f32(), SCOPE_LAYER);
        cr_assert_eq(verdict.outcome, OUTCOME_PASS);
        cr_assert_eq(verdict.policy, &policies[policy]);
        mha_free(got);
    }
}

Test(judge, skips_what_the_profile_cannot_hold)
{
    struct vector v = vector();
    struct array got[STAGES];
    struct verdict verdict;
    static const double large[4] = { 1e5, 1, 1, 1 };

    v.in.query = large;
    forward(got, &v, POLICY_PYTORCH);
    judge(&verdict, &v, 0, got, &profiles[PROFILE_FLOAT16], SCOPE_LAYER);
    cr_assert_eq(verdict.outcome, OUTCOME_SKIP);
    cr_assert_str_eq(verdict.reason, "not applicable to float16: a number leaves the range of the type");
    mha_free(got);
}

static const double in_b[6] = { 1, 2, .5, -1, 3, 1 };

/* Views and transposes do not round, whatever the profile. */
Test(judge, leaves_exact_stages_no_room)
{
    static const enum mha_stage exact[] = { Q_WEIGHT, K_WEIGHT, V_WEIGHT, Q_BIAS, K_BIAS, V_BIAS, Q_WEIGHT_T, K_WEIGHT_T, V_WEIGHT_T };
    struct vector v = vector();

    v.in.in_proj_bias = in_b;
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k++) {
        struct array got[STAGES];
        struct verdict verdict;
        forward(got, &v, POLICY_PYTORCH);
        struct array *a = &got[exact[k]];
        a->v[0] *= 1 + 0x1p-52;
        judge(&verdict, &v, 0, got, &profiles[PROFILE_BFLOAT16], SCOPE_LAYER);
        cr_expect_eq(verdict.outcome, OUTCOME_FAIL);
        cr_expect_eq(verdict.first_wrong, exact[k]);
        cr_expect_eq(verdict.worst.sigma, 0);
        mha_free(got);
    }
}

/* ---- an adapter ---- */

static void answer_one_beyond(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p)
{
    struct adapter reference = adapter_reference();

    reference.answer(&reference, result, v, p);
    if (self->state)
        result->got[OUTPUT].v[0] += 1;
}

static void through(struct verdict *verdict, struct array kept[STAGES], int wrong, int pass_suffices)
{
    struct vector v = vector();
    struct npz file = { 0 };
    char error[600];
    struct adapter adapter = { .name = "adapter", .answer = answer_one_beyond, .state = wrong ? &wrong : NULL, .pass_suffices = pass_suffices };

    v.in.in_proj_bias = in_b;    /* a file has both biases or none */
    cr_assert_null(vector_pack(&file, &v.in, 0, 0, NPZ_F8));
    cr_assert_null(judge_arrays(verdict, kept, &adapter, &file, "case", f32(), error));
}

Test(adapter, may_be_content_with_the_profile_asked_for)
{
    struct verdict verdict;

    through(&verdict, NULL, 0, 0);
    cr_assert_str_eq(verdict.meets->name, "float64");
    through(&verdict, NULL, 0, 1);
    cr_assert_eq(verdict.outcome, OUTCOME_PASS);
    cr_assert_str_eq(verdict.meets->name, "float32");
    through(&verdict, NULL, 1, 1);
    cr_assert_eq(verdict.outcome, OUTCOME_FAIL);
    cr_assert_null(verdict.meets);
}

Test(adapter, results_of_a_pass_is_what_a_kernel_returns)
{
    struct array kept[STAGES];
    struct verdict verdict;

    through(&verdict, kept, 0, 0);
    cr_assert_eq(verdict.outcome, OUTCOME_PASS);
    cr_assert(verdict.judged & 1u << SCORES);
    cr_assert(kept[OUTPUT].v && kept[ATTN_WEIGHTS].v && kept[ATTN_WEIGHTS_MEAN].v && kept[HEAD_OUTPUTS].v);
    cr_assert_null(kept[SCORES].v);
    mha_free(kept);
    through(&verdict, kept, 1, 0);
    cr_assert_eq(verdict.outcome, OUTCOME_FAIL);
    cr_assert_not_null(kept[SCORES].v);
    mha_free(kept);
}
