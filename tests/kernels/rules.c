/* SPDX-License-Identifier: MIT */
/*
 * Letters: m element of a whole array, a answer, s stage that is returned.
 */
#include "rules.h"

#include <math.h>

#include "judge/compare.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

const char *const rule_names[RULES] = {
    "`torch.allclose` (rtol 1e-5, atol 1e-8)", "`torch.testing.assert_close` (float32: 1.3e-6, 1e-5)",
    "ONNX (rtol 1e-3, atol 1e-7)", "atol 1e-3", "NMSE <= 5e-4", "relative L2 <= 3e-3", "8 sigma of the envelope",
};

static const enum mha_stage returned[] = { OUTPUT, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN };
enum { RETURNED = sizeof returned / sizeof *returned };

static int same_class(double x, double y)
{
    return isnan(x) ? isnan(y) : isinf(x) ? x == y : isfinite(y);
}

static int elementwise(const struct array *got, const struct array *expected, double relative, double absolute)
{
    FOR(m, expected->size) {
        double x = got->v[m], y = expected->v[m];
        if (!same_class(x, y) || (isfinite(y) && !(fabs(x - y) <= absolute + relative * fabs(y))))
            return 0;
    }
    return 1;
}

/* The norm of the error over the norm of the array, squared, against a limit. */
static int norm(const struct array *got, const struct array *expected, double limit)
{
    double error = 0, size = 0;

    FOR(m, expected->size) {
        double x = got->v[m], y = expected->v[m];
        if (!same_class(x, y))
            return 0;
        if (isfinite(y)) {
            error += (x - y) * (x - y);
            size += y * y;
        }
    }
    return error <= limit * size;
}

int rule_accepts(int rule, enum mha_stage stage, const struct array *got, const struct array *expected,
                 const struct array *sigma, const struct profile *p)
{
    struct comparison c;

    if (got->size != expected->size)
        return 0;
    switch (rule) {
    case 0: return elementwise(got, expected, 1e-5, 1e-8);
    case 1: return elementwise(got, expected, p->smallest == 0 ? 1.3e-6 : p->smallest == 0x1p-24 ? 1e-3 : 1.6e-2, 1e-5);
    case 2: return elementwise(got, expected, 1e-3, 1e-7);
    case 3: return elementwise(got, expected, 0, 1e-3);
    case 4: return norm(got, expected, 5e-4);
    case 5: return norm(got, expected, 3e-3 * 3e-3);
    default:
        compare_stage(&c, stage, got, expected, sigma, p);
        return c.passed;
    }
}

int rule_accepts_all(int rule, const struct array got[STAGES], const struct expected *expected)
{
    FOR(a, expected->answers) {
        const struct answer *answer = &expected->answer[a];
        int all = 1;
        FOR(s, RETURNED)
            if (got[returned[s]].v)
                all = all && rule_accepts(rule, returned[s], &got[returned[s]], &answer->stage[returned[s]],
                                          &answer->sigma[returned[s]], expected->profile);
        if (all)
            return 1;
    }
    return 0;
}

double rule_error(const struct array got[STAGES], const struct expected *expected)
{
    double nearest = INFINITY;

    FOR(a, expected->answers) {
        const struct answer *answer = &expected->answer[a];
        double worst = 0;
        FOR(s, RETURNED) {
            struct comparison c;
            if (!got[returned[s]].v)
                continue;
            compare_stage(&c, returned[s], &got[returned[s]], &answer->stage[returned[s]], &answer->sigma[returned[s]], expected->profile);
            if (c.worst.stage != STAGES)
                worst = fmax(worst, c.worst.error_sigma);
        }
        nearest = fmin(nearest, worst);
    }
    return nearest;
}
