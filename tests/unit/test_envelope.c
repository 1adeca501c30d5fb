/* SPDX-License-Identifier: MIT */
/* The envelope on numbers that a reader can check on paper. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "envelope/envelope.h"

#define U32 (0x1p-48 / 3)
#define TB (0x1p-16 / 3)       /* bfloat16 storage */

static struct array t[STAGES], sigma[STAGES];

/* One item, one head; every weight is the identity times its scale. */
struct tiny { struct mha_in in; double x[8], w[12], b[6], o[4]; };

static void walk(const struct mha_in *in, const char *profile)
{
    cr_assert_null(mha_alloc(t, in));
    cr_assert_null(mha_alloc(sigma, in));
    mha_forward(t, in);
    cr_assert_null(envelope(sigma, t, in, profile_named(profile), SCOPE_LAYER));
}

static void done(void)
{
    mha_free(t);
    mha_free(sigma);
}

static void near(double got, double wanted)
{
    cr_assert(fabs(got - wanted) <= 1e-12 * fabs(wanted), "got %.17g, wanted %.17g", got, wanted);
}

/* E = H = D = 1, L = 1, S keys; q = 3x - 1, k = key, v = value, output = 2 c + 1. */
static struct tiny one_channel(size_t S)
{
    struct tiny a = { .x = { 2, 0, 1, 2 }, .w = { 3, 1, 1 }, .b = { -1, 0.5, 0.25 }, .o = { 2, 1 } };
    a.in = (struct mha_in){ .N = 1, .L = 1, .S = S, .E = 1, .Ek = 1, .Ev = 1, .H = 1, .batched = 1, .batch_first = 1 };
    return a;
}

static void point(struct tiny *a)
{
    a->in.query = a->x;
    a->in.key = a->in.value = a->x + 1;
    a->in.in_proj_weight = a->w;
    a->in.in_proj_bias = a->b;
    a->in.out_proj_weight = a->o;
    a->in.out_proj_bias = a->o + 1;
}

Test(profile, rounds_to_its_type)
{
    const struct profile *h = profile_named("float16"), *b = profile_named("bfloat16");

    cr_assert_eq(profile_round(h, 1 + 0x1p-11), 1.0);                 /* a tie goes to even */
    cr_assert_eq(profile_round(h, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
    cr_assert_eq(profile_round(h, 65519), 65504.0);
    cr_assert_eq(profile_round(h, 65520), INFINITY);
    cr_assert_eq(profile_round(h, -1e9), -INFINITY);
    cr_assert_eq(profile_round(h, 0x1p-25), 0.0);                     /* half of the smallest: to even */
    cr_assert_eq(profile_round(h, 0x1.8p-24), 0x1p-23);
    cr_assert_eq(profile_round(b, 1 + 0x1p-8), 1.0);
    cr_assert_eq(profile_round(b, 1 + 0x1.8p-8), 1 + 0x1p-7);
    cr_assert_eq(profile_round(b, 0x1p-133), 0x1p-133);
    cr_assert_eq(profile_round(profile_named("float32"), 0.1), (double)0.1f);
    cr_assert_eq(profile_round(profile_named("tf32"), 0.1), (double)0.1f);
    cr_assert_eq(profile_round(profile_named("float64"), 0.1), 0.1);
    cr_assert(isnan(profile_round(h, NAN)));
    cr_assert_null(profile_named("float8"));
}

Test(profile, knows_every_float16)
{
    const struct profile *h = profile_named("float16");

    for (int e = -24; e <= 15; e++)
        for (int m = 0; m < 1024; m++) {
            double x = e < -14 ? ldexp(m, -24) : ldexp(1024 + m, e - 10);
            if (x <= 65504)
                cr_assert_eq(profile_round(h, x), x);
        }
}

Test(envelope, projection_of_one_term)
{
    struct tiny a = one_channel(1);
    point(&a);
    walk(&a.in, "float32");
    /* t = 6, b = -1: R = max(36, 36, (6+1)^2/16, 36/48) = 36; then the bias is added: 25 */
    near(sigma[Q_PROJ].v[0], sqrt(U32 * (36 + 25)));
    near(sigma[Q_HEADS].v[0], sigma[Q_PROJ].v[0]);
    cr_assert_eq(sigma[Q_WEIGHT].v[0], 0);
    cr_assert_eq(sigma[MASK].v[0], 0);
    done();
}

Test(envelope, no_bias_no_addition)
{
    struct tiny a = one_channel(1);
    point(&a);
    a.in.in_proj_bias = NULL;
    walk(&a.in, "float32");
    near(sigma[Q_PROJ].v[0], sqrt(U32 * 36));
    done();
}

Test(envelope, one_key_leaves_only_the_normaliser)
{
    struct tiny a = one_channel(1);
    point(&a);
    walk(&a.in, "float32");
    double m = t[MASKED_SCORES].v[0];
    cr_assert_eq(t[ATTN_WEIGHTS].v[0], 1);
    cr_assert_eq(m, 2.5);                                             /* q = 5, k = 0 + 0.5 */
    near(sigma[ATTN_WEIGHTS].v[0], sqrt(U32 * (16 + 1 + 2 * m * m + 16)));
    near(sigma[ATTN_WEIGHTS_MEAN].v[0], sqrt(U32 * 16 + U32 * (17 + 2 * m * m) + 2 * U32));
    done();
}

Test(envelope, the_score_sums_its_parts)
{
    struct tiny a = one_channel(1);
    point(&a);
    walk(&a.in, "float32");
    /* q = 5, k = 0.5: Vq = 61 U; Vk: t = 0, b = 0.5: R = 0.25, bias 0.25: 0.5 U */
    double Vq = 61 * U32, Vk = 0.5 * U32, dot = Vq * 0.25 + 25 * Vk + Vq * Vk + U32 * 6.25;
    near(sigma[SCORES].v[0], sqrt(dot + 2 * U32 * 6.25));
    near(sigma[MASKED_SCORES].v[0], sqrt(dot + 3 * U32 * 6.25));
    done();
}

Test(envelope, sixteen_bits_are_stored)
{
    struct tiny a = one_channel(1);
    point(&a);
    walk(&a.in, "bfloat16");
    double U = 0x1p-46 / 3;
    near(sigma[Q_PROJ].v[0], sqrt(U * 61 + TB * (25 + 36)));         /* the result, and the product before the bias */
    near(sigma[ATTN_WEIGHTS].v[0], sqrt(U * (16 + 1 + 2 * 6.25 + 16) + TB));
    done();
}

Test(envelope, masked_entries_are_exact)
{
    struct tiny a = one_channel(3);
    unsigned char hidden[3] = { 0, 1, 0 };
    point(&a);
    a.in.attn_mask = (struct mask){ .ndim = 2, .masked = hidden };
    walk(&a.in, "bfloat16");
    cr_assert_eq(sigma[MASKED_SCORES].v[1], 0);
    cr_assert_eq(sigma[ATTN_WEIGHTS].v[1], 0);
    cr_assert_eq(sigma[ATTN_WEIGHTS_MEAN].v[1], 0);
    cr_assert_gt(sigma[SCORES].v[1], 0);
    cr_assert_gt(sigma[ATTN_WEIGHTS].v[2], 0);
    done();
}

Test(envelope, a_fully_masked_row_has_no_sigma)
{
    struct tiny a = one_channel(3);
    unsigned char hidden[3] = { 1, 1, 1 };
    point(&a);
    a.in.key_padding_mask = (struct mask){ .ndim = 2, .masked = hidden };
    walk(&a.in, "float32");
    for (int j = 0; j < 3; j++)
        cr_assert_eq(sigma[ATTN_WEIGHTS].v[j], 0);
    cr_assert_eq(sigma[OUTPUT].v[0], 0);
    cr_assert(isnan(t[OUTPUT].v[0]));
    done();
}

Test(envelope, two_float_masks_round)
{
    struct tiny a = one_channel(2);
    double f[2] = { 1000, 1 }, g[2] = { -1000, -INFINITY };
    point(&a);
    a.in.attn_mask = (struct mask){ .ndim = 2, .added = f };
    a.in.key_padding_mask = (struct mask){ .ndim = 2, .added = g };
    walk(&a.in, "float32");
    near(sigma[MASK].v[0], sqrt(U32 * 2e6));
    cr_assert_eq(sigma[MASK].v[1], 0);
    cr_assert_gt(sigma[MASKED_SCORES].v[0], sigma[MASK].v[0]);
    done();
}

Test(envelope, equal_values_do_not_feel_the_scores)
{
    struct tiny a = one_channel(3);
    double value[3] = { 4, 4, 4 };
    point(&a);
    a.in.value = value;
    walk(&a.in, "float32");
    /* the mix of equal values stays put: what is left is rounding, not the softmax's slope */
    cr_assert_lt(sigma[HEAD_OUTPUTS].v[0], 20 * 0x1p-24 * 4.25);
    done();
}

/* float16 has 2^-24 between its smallest numbers: half of that is lost, whatever their size. */
Test(envelope, small_numbers_are_stored_no_better_than_their_spacing)
{
    struct tiny a = one_channel(1);
    double value[1] = { 5e-7 }, least = sqrt(0x1p-50 / 3);
    point(&a);
    a.in.in_proj_bias = NULL;
    a.in.value = value;
    walk(&a.in, "float16");
    cr_assert_geq(sigma[V_PROJ].v[0], least);
    cr_assert_lt(sigma[V_PROJ].v[0], 1.001 * least);
    cr_assert_geq(sigma[HEAD_OUTPUTS].v[0], least);
    cr_assert_geq(sigma[OUTPUT].v[0], 2 * least);
    done();
}

/* Equal channels are stored equally wrong, and their errors add up in the output. */
Test(envelope, equal_channels_are_stored_alike)
{
    enum { E = 16 };
    double x[E], w[3 * E * E] = { 0 }, o[E * E], third = (double)(float)(1.0 / 3);
    struct mha_in in = { .N = 1, .L = 1, .S = 1, .E = E, .Ek = E, .Ev = E, .H = 1, .batched = 1, .batch_first = 1,
                         .query = x, .key = x, .value = x, .in_proj_weight = w, .out_proj_weight = o };
    for (int e = 0; e < E; e++) {
        x[e] = 1;
        w[(2 * E + e) * E] = third;              /* every channel of v is a third of the first of x */
    }
    for (int m = 0; m < E * E; m++)
        o[m] = 1;
    walk(&in, "bfloat16");
    double lost = fabs(profile_round(profile_named("bfloat16"), third) - third);
    cr_assert_gt(lost, 0);
    cr_assert_geq(sigma[OUTPUT].v[0], E * lost);
    done();
    walk(&in, "float32");                        /* ... and computed alike: their sigmas are added */
    cr_assert_geq(sigma[OUTPUT].v[0], (E - 0.01) * sqrt(U32) * third);
    double together = sigma[OUTPUT].v[0];
    done();
    for (int e = 0; e < E; e++)
        w[(2 * E + e) * E] = third * (1 + e);    /* all different */
    walk(&in, "float32");
    double apart = 0;
    for (int e = 0; e < E; e++)
        apart += third * (1 + e);
    cr_assert_lt(sigma[OUTPUT].v[0] / apart, 0.9 * together / (E * third));
    done();
}

/* Scores so large that exp(s - lse) itself is blurred decide nothing. */
Test(envelope, says_when_the_normaliser_is_undetermined)
{
    struct tiny a = one_channel(1);
    double key[1] = { 4e4 };
    point(&a);
    a.in.key = key;
    walk(&a.in, "float32");
    cr_assert_null(envelope_applies(sigma, t, profile_named("float32")));
    done();
    key[0] = 4e5;
    walk(&a.in, "float32");
    cr_assert_not_null(envelope_applies(sigma, t, profile_named("float32")));
    cr_assert_null(envelope_applies(sigma, t, profile_named("float64")));
    done();
}

/* Beyond that, variances are no numbers any more. */
Test(envelope, says_when_a_number_cannot_be_squared)
{
    struct tiny a = one_channel(1);
    point(&a);
    a.w[2] = 0x1p260;
    a.x[1] = 1;
    walk(&a.in, "float64");
    cr_assert_not_null(envelope_applies(sigma, t, profile_named("float64")));
    done();
}

Test(envelope, equal_heads_err_alike)
{
    double x[2] = { 1, 2 }, keys[4] = { 1, 2, -1, 3 }, w[12] = { 1, 2, 1, 2, 1, -1, 1, -1, 1, 0, 1, 0 }, o[4] = { 1, 0, 0, 1 };
    struct mha_in in = { .N = 1, .L = 1, .S = 2, .E = 2, .Ek = 2, .Ev = 2, .H = 2, .batched = 1, .batch_first = 1,
                         .query = x, .key = keys, .value = keys, .in_proj_weight = w, .out_proj_weight = o };
    walk(&in, "float32");
    cr_assert_eq(t[ATTN_WEIGHTS].v[0], t[ATTN_WEIGHTS].v[2]);
    cr_assert_eq(sigma[ATTN_WEIGHTS].v[0], sigma[ATTN_WEIGHTS].v[2]);
    cr_assert_geq(sigma[ATTN_WEIGHTS_MEAN].v[0], sigma[ATTN_WEIGHTS].v[0]);
    done();
}

Test(envelope, a_flushed_weight_takes_its_value_along)
{
    struct tiny a = one_channel(2);
    double key[2] = { 0, -18 }, value[2] = { 0, 1000 };              /* scores 2.5 and -87.5 */
    point(&a);
    a.b[2] = 0;
    a.in.key = key;
    a.in.value = value;
    walk(&a.in, "float32");
    double c = t[HEAD_OUTPUTS].v[0], floor = profile_named("float32")->floor;
    cr_assert_lt(t[ATTN_WEIGHTS].v[1], 0x1p-126);
    cr_assert_gt(c, 10 * floor);                                      /* 0 instead of it: not a matter of the floor */
    cr_assert_lt(c, ENVELOPE_SIGMAS * sigma[HEAD_OUTPUTS].v[0]);
    cr_assert_lt(2 * c, ENVELOPE_SIGMAS * sigma[OUTPUT].v[0]);
    cr_assert_lt(sigma[HEAD_OUTPUTS].v[0], 2 * c);                    /* and no more than that */
    done();
}

Test(envelope, a_flushed_operand_loses_its_product)
{
    struct tiny a = one_channel(1);
    point(&a);
    a.in.in_proj_bias = NULL;
    a.x[0] = 0x1p-130;
    a.w[0] = 0x1p100;
    walk(&a.in, "float32");
    near(sigma[Q_PROJ].v[0], sqrt(U32 * 0x1p-60 + 0x1p-60));
    a.x[0] = 0x1p-120;                                                /* no number that is flushed */
    done();
    walk(&a.in, "float32");
    near(sigma[Q_PROJ].v[0], sqrt(U32 * 0x1p-40));
    a.x[0] = 0;                                                       /* nothing to lose */
    done();
    walk(&a.in, "float32");
    cr_assert_eq(sigma[Q_PROJ].v[0], 0);
    done();
}

Test(envelope, a_long_sum_that_cancels)
{
    enum { n = 64 };
    static double x[n], w[3 * n * n], o[n * n];
    struct mha_in in = { .N = 1, .L = 1, .S = 1, .E = n, .Ek = n, .Ev = n, .H = 1, .batched = 1, .batch_first = 1,
                         .query = x, .key = x, .value = x, .in_proj_weight = w, .out_proj_weight = o };
    for (int c = 0; c < n; c++) {
        x[c] = 1;
        w[c] = c < n / 2 ? 1 : -1;                                    /* row 0 of q: partial sums 1..32..0 */
    }
    walk(&in, "float32");
    double partial2 = 0, partial = 0;
    for (int k = 1; k <= n; k++) {
        double P = k <= n / 2 ? k : n - k;
        partial2 += P * P;
        partial += P;
    }
    cr_assert_eq(t[Q_PROJ].v[0], 0);
    near(sigma[Q_PROJ].v[0], sqrt(U32 * fmax(fmax(n * 64, partial2), fmax(partial * partial * 4 / 9, n * 4096.0 / 48))));    /* equal terms */
    done();
}

/* ---- errors in common: each of these falls short without its term ---- */

/* D = E channels, one head, one query, S keys; weights are the identity, biases are zero. */
enum { MANY = 64, WIDE = 16 };
struct pool { struct mha_in in; double query[WIDE], key[MANY * WIDE], value[MANY * WIDE], w[3 * WIDE * WIDE], o[WIDE * WIDE], b[3 * WIDE], mask[MANY]; };

static struct mha_in *pool(struct pool *a, size_t E)
{
    *a = (struct pool){ .in = { .N = 1, .L = 1, .S = MANY, .E = E, .Ek = E, .Ev = E, .H = 1, .batched = 1, .batch_first = 1 } };
    for (size_t e = 0; e < E; e++) {
        a->o[e * E + e] = 1;
        for (size_t k = 0; k < 3; k++) a->w[(k * E + e) * E + e] = 1;
    }
    a->in.query = a->query, a->in.key = a->key, a->in.value = a->value;
    a->in.in_proj_weight = a->w, a->in.out_proj_weight = a->o, a->in.in_proj_bias = a->b;
    return &a->in;
}

/* sigma of the first mixed value. */
static double mixed_sigma(const struct mha_in *in, const char *profile, enum scope scope)
{
    walk(in, profile);
    cr_assert_null(envelope(sigma, t, in, profile_named(profile), scope));
    double found = sigma[HEAD_OUTPUTS].v[0];
    done();
    return found;
}

/* Two kinds of keys, whose values cancel: the errors of half of the scores are equal. */
Test(envelope, equal_keys_err_alike)
{
    static struct pool a;
    struct mha_in *in = pool(&a, 2);
    double alike, apart;

    a.query[0] = 3, a.query[1] = 5;
    for (int j = 0; j < MANY; j++) {
        a.key[2 * j] = j % 2 ? 1 : -0.7, a.key[2 * j + 1] = j % 2 ? 0.5 : 1.52;    /* equal scores */
        a.value[2 * j] = j % 2 ? 1 : -1;
    }
    alike = mixed_sigma(in, "float32", SCOPE_CORE);
    for (int j = 0; j < MANY; j++) a.key[2 * j] += j * 0x1p-10, a.key[2 * j + 1] -= 0.6 * j * 0x1p-10;
    apart = mixed_sigma(in, "float32", SCOPE_CORE);
    cr_assert_gt(alike, 2 * apart, "%g %g", alike, apart);
}

/* Two kinds of value rows that cancel in the mix: their projections are equally wrong, and their products before the bias. */
Test(envelope, equal_values_err_alike)
{
    static struct pool a;
    struct mha_in *in = pool(&a, 2);
    static const char *const profile[] = { "float32", "tf32", "float16", "bfloat16" };

    a.b[4] = 0.25;
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < MANY; j++) a.value[2 * j] = j % 2 ? 1.25 : -1.75;
        double alike = mixed_sigma(in, profile[k], SCOPE_LAYER);
        for (int j = 0; j < MANY; j++) a.value[2 * j] = j % 2 ? 1.25 + j * 0x1p-5 : -1.75 - (j + 1) * 0x1p-5;
        double apart = mixed_sigma(in, profile[k], SCOPE_LAYER);
        cr_assert_gt(alike, 1.5 * apart, "%s: %g %g", profile[k], alike, apart);
    }
}

/* Scores are 0, and an error of q moves all of them: values that follow the keys feel it. */
Test(envelope, an_error_of_q_moves_all_keys)
{
    static struct pool a;
    struct mha_in *in = pool(&a, 2);
    double moved[2] = { 0, 0 }, V = 0;

    a.query[0] = 3, a.query[1] = 5;
    for (int j = 0; j < MANY; j++) {
        double x = j - MANY / 2 + 0.5;
        a.key[2 * j] = 5 * x, a.key[2 * j + 1] = -3 * x, a.value[2 * j] = x;
        for (int d = 0; d < 2; d++) moved[d] += a.key[2 * j + d] * x / MANY;
    }
    walk(in, "float32");
    for (int d = 0; d < 2; d++) V += sigma[Q_HEADS].v[d] * sigma[Q_HEADS].v[d] * moved[d] * moved[d] / 2;
    double found = sigma[HEAD_OUTPUTS].v[0];
    done();
    cr_assert_geq(found, sqrt(V));
    cr_assert_leq(found, 2 * sqrt(V));
}

/* A weight that is stored before it is normalised: equal scores, equal errors. */
Test(envelope, equal_weights_are_stored_alike)
{
    static struct pool a;
    struct mha_in *in = pool(&a, 2);
    double half = 0;

    in->attn_mask = (struct mask){ .ndim = 2, .added = a.mask };
    for (int j = 0; j < MANY; j++) {
        a.mask[j] = j % 2 ? -0.375 : 0;
        a.value[2 * j] = j % 2 ? -1.4550 : 1;
    }
    walk(in, "bfloat16");
    for (int j = 0; j < MANY; j += 2) half += t[ATTN_WEIGHTS].v[j];
    double found = sigma[HEAD_OUTPUTS].v[0];
    done();
    cr_assert_geq(found, sqrt(2 * TB) * half, "%g %g", found, half);
}

/* Terms alternate: two accumulators climb, and round alike all the way, though the sum stays near 0. */
Test(envelope, interleaved_accumulators)
{
    enum { n = 256 };
    static double x[n], w[3 * n * n], o[n * n];
    struct mha_in in = { .N = 1, .L = 1, .S = 1, .E = n, .Ek = n, .Ev = n, .H = 1, .batched = 1, .batch_first = 1,
                         .query = x, .key = x, .value = x, .in_proj_weight = w, .out_proj_weight = o };

    for (int period = 1; period <= 8; period *= 2) {
        for (int c = 0; c < n; c++) x[c] = 1, w[c] = c / period % 2 ? -1 : 1;
        walk(&in, "float32");
        double each = n / (2 * period), all = 2 * period * each * (each + 1) / 2;    /* sum |P| of 2 period accumulators */
        cr_expect_geq(sigma[Q_PROJ].v[0], 0.9 * sqrt(U32) * all * 2 / 3);
        cr_expect_leq(sigma[Q_PROJ].v[0], fmax(1.2 * sqrt(U32) * all * 2 / 3, sqrt(U32 * n * n) * 2.4));
        done();
    }
}

/* The channels of q have two values: two errors, each of which all channels of a value share. */
Test(envelope, channels_in_groups_of_equal_numbers)
{
    static struct pool a;
    struct mha_in *in = pool(&a, WIDE);
    double O = 0x1p-20 / 3, one = 1.234, other = 0.777, V;

    for (int e = 0; e < WIDE; e++) {
        a.query[e] = e % 2 ? one : other;
        for (int j = 0; j < MANY; j++) a.key[j * WIDE + e] = e % 2 ? other : -one;    /* their shares cancel */
    }
    walk(in, "tf32");
    V = 2 * O * pow(one * other * WIDE / 2, 2) / WIDE;
    cr_assert_geq(sigma[SCORES].v[0], sqrt(V), "%g %g", sigma[SCORES].v[0], sqrt(V));
    done();
}

Test(envelope, says_when_a_number_leaves_the_type)
{
    struct tiny a = one_channel(1);
    point(&a);
    a.x[0] = 40000;
    walk(&a.in, "float16");
    cr_assert_str_eq(envelope_applies(sigma, t, profile_named("float16")), "a number leaves the range of the type");
    cr_assert_null(envelope_applies(sigma, t, profile_named("float32")));
    done();
}

Test(envelope, says_when_the_softmax_is_undetermined)
{
    struct tiny a = one_channel(3);
    point(&a);
    a.x[0] = 4000;
    a.x[1] = 1, a.x[2] = 1.0078125, a.x[3] = -1;
    walk(&a.in, "bfloat16");                                          /* scores near 18000, 94 apart */
    cr_assert_str_eq(envelope_applies(sigma, t, profile_named("bfloat16")),
                     "rounding of the scores leaves the softmax undetermined");
    done();
    walk(&a.in, "float32");
    cr_assert_null(envelope_applies(sigma, t, profile_named("float32")));
    done();
}

/* A file may hold any weights, and a fault makes some: no tolerance grows from
 * weights that are no softmax of their scores. */
Test(envelope, weights_that_are_no_softmax, .fini = done)
{
    struct tiny a = one_channel(3);

    point(&a);
    walk(&a.in, "float32");
    double honest = sigma[OUTPUT].v[0];
    for (int factor = -1; factor <= 0; factor++) {
        for (int j = 0; j < 3; j++)
            t[ATTN_WEIGHTS].v[j] *= factor;
        cr_assert_null(envelope(sigma, t, &a.in, profile_named("float32"), SCOPE_LAYER));
        for (int k = 0; k < STAGES; k++)
            for (size_t m = 0; m < t[k].size; m++)
                cr_expect(sigma[k].v[m] <= 100 * honest, "%d %s: %g", factor, t[k].name, sigma[k].v[m]);
    }
}

Test(envelope, empty_sizes)
{
    struct tiny a = one_channel(0);
    point(&a);
    walk(&a.in, "float32");
    cr_assert_eq(t[OUTPUT].v[0], 1);                                  /* out_proj.bias */
    cr_assert_gt(sigma[OUTPUT].v[0], 0);
    done();
    a.in.L = 0;
    walk(&a.in, "bfloat16");
    cr_assert_eq(t[OUTPUT].size, 0);
    done();
}
