/* SPDX-License-Identifier: MIT */
/* Two envelopes, written independently in C and in numpy, on every vector. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "judge/expected.h"
#include "corpus/corpus.h"

/* The files keep 14 bits. Below the floor nothing matters. Files of corpus 1.0.0 keep the envelope of that
 * time, which knew fewer errors that numbers have in common. It is narrower, but for weights: the signed sum
 * of sigma(k) may shrink where one sigma(k) grows, by 8 % at most in these files. */
static int agree(double stored, double computed, int first)
{
    double close = 0x1p-13 * fmax(stored, computed) + profiles[PROFILE_FLOAT32].floor;

    return 0.9 * stored <= computed + close && (first || computed <= stored + close);
}

static size_t compare(const struct vector *v, const struct answer *a, int first)
{
    size_t compared = 0;

    for (int k = 0; a->policy && k < STAGES; k++) {
        const struct npz_array *stored = a->sigma[k].v ? vector_stage(v, a->policy->name, "sigma.", a->sigma[k].name) : NULL;
        for (size_t m = 0; stored && m < stored->size; m++, compared++)
            cr_assert(agree(npz_value(stored, m), a->sigma[k].v[m], first), "%s %s sigma.%s[%zu]: stored %.9g, computed %.9g",
                      v->name, a->policy->name, a->sigma[k].name, m, npz_value(stored, m), a->sigma[k].v[m]);
    }
    return compared;
}

Test(agreement, the_stored_envelope_is_the_computed_one)
{
    struct corpus corpus;
    struct choice choice;
    size_t compared = 0;

    cr_assert_null(corpus_open(&corpus, QKVEC_TEST_VECTORS));
    cr_assert_null(corpus_choose(&choice, &corpus, 0, NULL));
    for (size_t c = 0; c < choice.count; c++) {
        struct vector v;
        struct expected expected;
        cr_assert_null(vector_read_chosen(&v, &choice.chosen[c]));
        cr_assert_null(expected_make(&expected, &v, 0, &profiles[PROFILE_FLOAT32], SCOPE_LAYER));
        for (size_t a = 0; a < expected.answers; a++)
            compared += compare(&v, &expected.answer[a], strcmp(corpus_find(&corpus, choice.chosen[c].name)->since, "1.0.0") == 0);
        expected_free(&expected);
        vector_free(&v);
    }
    cr_assert_gt(compared, 40000);
    choice_free(&choice);
    corpus_close(&corpus);
}
