/* SPDX-License-Identifier: MIT */
/*
 * Rounding: the recipe against PyTorch, in double and in float.
 *
 * Letters: k stage, m element, d channel of a head.
 */
#include <math.h>
#include <string.h>

#include "weave.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* ---- stage | shape | in double | in float | in sigma ---- */

struct worst {
    double difference, sigma;
};

static struct worst compare(const struct array *got, const struct array *wanted, const struct array *sigma)
{
    struct worst worst = { 0, 0 };

    FOR(m, wanted->size) {
        double d = fabs(got->v[m] - wanted->v[m]);
        worst.difference = fmax(worst.difference, d);
        if (sigma->v[m] > 0)
            worst.sigma = fmax(worst.sigma, d / sigma->v[m]);
    }
    return worst;
}

static void difference(FILE *f, double x)
{
    if (x == 0)
        fputs(" | 0", f);
    else
        fprintf(f, " | %.0e", x);
}

static const char *table(struct weave *w, const struct vector *v, struct array in_double[STAGES], struct array in_float[STAGES])
{
    double *stage[STAGES];
    struct expected expected;
    const char *wrong;

    if ((wrong = expected_make(&expected, v, 0, &profiles[PROFILE_FLOAT32], SCOPE_LAYER)))
        return wrong;
    FOR(k, STAGES) stage[k] = in_float[k].v;
    mha_forward(in_double, &v->in);
    if (!(wrong = float_stages(stage, &v->in))) {
        fputs(w->chinese ? "| 步骤 | 形状 | double：与 PyTorch 的最大差 | float：最大差 | 以 sigma 计 |\n|---|---|---|---|---|\n"
                         : "| stage | shape | in double: max difference to PyTorch | in float: max difference | in sigma |\n|---|---|---|---|---|\n", w->out);
        FOR(k, STAGES) {
            const struct array *a = &expected.answer[0].stage[k], *sigma = &expected.answer[0].sigma[k];
            if (!a->v || !vector_stage(v, NULL, "", a->name))
                continue;
            fprintf(w->out, "| `%s` | (", a->name);
            FOR(d, (size_t)a->ndim) fprintf(w->out, d ? ", %zu" : "%zu", a->shape[d]);
            fputs(a->ndim == 1 ? ",)" : ")", w->out);
            difference(w->out, compare(&in_double[k], a, sigma).difference);
            difference(w->out, compare(&in_float[k], a, sigma).difference);
            fprintf(w->out, " | %.1f |\n", compare(&in_float[k], a, sigma).sigma);
        }
    }
    expected_free(&expected);
    return wrong;
}

const char *part_stages(struct weave *w, char *args)
{
    struct array in_double[STAGES], in_float[STAGES];
    struct vector v;
    const char *wrong = weave_vector(w, &v, args);

    if (wrong)
        return wrong;
    if (!(wrong = mha_alloc(in_double, &v.in))) {
        if (!(wrong = mha_alloc(in_float, &v.in))) {
            wrong = table(w, &v, in_double, in_float);
            mha_free(in_float);
        }
        mha_free(in_double);
    }
    vector_free(&v);
    return wrong;
}

/* ---- where the scale may go ---- */

static const char *const places[] = {
    "(q @ k.T) / sqrt(D)", "(q / sqrt(D)) @ k.T", "(q * sqrt(1/D)) @ k.T", "(q * D**-0.25) @ (k * D**-0.25).T",
};
#define PLACES (sizeof places / sizeof *places)

/* One score in float, scaled in one of the four places. */
static float score(size_t place, const real *q, const real *k, size_t D)
{
    float root = sqrtf((float)D), inverse = sqrtf(1.0f / (float)D), fourth = sqrtf(inverse), sum = 0;

    FOR(d, D) {
        float a = (float)q[d], b = (float)k[d];
        a = place == 1 ? a / root : place == 2 ? a * inverse : place == 3 ? a * fourth : a;
        b = place == 3 ? b * fourth : b;
        sum += a * b;
    }
    return place == 0 ? sum / root : sum;
}

const char *part_scale(struct weave *w, char *args)
{
    struct expected expected;
    struct vector v;
    const char *wrong = weave_vector(w, &v, args);

    if (wrong)
        return wrong;
    if (!(wrong = expected_make(&expected, &v, 0, &profiles[PROFILE_FLOAT32], SCOPE_LAYER))) {
        const struct array *q = &expected.answer[0].stage[Q_HEADS], *k = &expected.answer[0].stage[K_HEADS];
        const struct array *s = &expected.answer[0].stage[SCORES], *sigma = &expected.answer[0].sigma[SCORES];
        size_t L = s->shape[2], Sx = s->shape[3], D = q->shape[3];
        fprintf(w->out, w->chinese ? "| 缩放的位置 | `scores[0,0,0,0]`，float32 | 与第一行不同的数（共 %zu 个） | 离 PyTorch 的 float64 最远 |\n|---|---|---|---|\n"
                                   : "| where | `scores[0,0,0,0]` in float32 | other bits than the first row, of %zu | farthest from PyTorch in float64 |\n|---|---|---|---|\n",
                s->size);
        FOR(place, PLACES) {
            size_t other = 0;
            double worst = 0;
            FOR(m, s->size) {
                const real *a = q->v + m / Sx * D, *b = k->v + (m / Sx / L * Sx + m % Sx) * D;
                float x = score(place, a, b, D);
                other += x != score(0, a, b, D);
                worst = fmax(worst, fabs((double)x - s->v[m]) / sigma->v[m]);
            }
            fprintf(w->out, "| `%s` | %.9g | %zu | %.1f sigma |\n", places[place], (double)score(place, q->v, k->v, D), other, worst);
        }
        expected_free(&expected);
    }
    vector_free(&v);
    return wrong;
}
