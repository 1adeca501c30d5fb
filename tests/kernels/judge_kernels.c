/* SPDX-License-Identifier: MIT */
/*
 * The judge judged: by kernels of which we know whether they are right.
 *
 *     judge_kernels check VECTORS KERNEL.so                  against the vectors, as its card says
 *     judge_kernels random SIZE FIRST COUNT KERNEL.so...     against the reference, on hard inputs
 *
 * check exits with 0 when an honest kernel (it meets its profile) passed every
 * vector, and when a wrong one was rejected and meets what its card says.
 * random prints one line for each kernel, "key value" pairs with tabs between,
 * and exits with 1 when an honest kernel had an element beyond its bound.
 *
 * Letters: k stage or profile.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adversary.h"
#include "load.h"
#include "corpus/corpus.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

static int say_no(const char *subject, const char *sentence)
{
    fprintf(stderr, "judge_kernels: %s: %s\n", subject, sentence);
    return 2;
}

/* ---- check ---- */

/* What happened under one profile. */
struct tally {
    size_t passed, failed, skipped;
    double worst;               /* in sigma, of those that passed */
    double least, most;         /* of the worst errors of those that failed */
    char least_name[128], worst_name[128];
};

static void count(struct tally *t, const struct verdict *v)
{
    double e = v->worst.stage == STAGES ? 0 : v->worst.error_sigma;

    if (v->outcome == OUTCOME_PASS) {
        t->passed++;
        if (e > t->worst) {
            t->worst = e;
            snprintf(t->worst_name, sizeof t->worst_name, "%s", v->vector);
        }
    } else if (v->outcome == OUTCOME_SKIP) {
        t->skipped++;
    } else {
        if (t->failed++ == 0 || e < t->least) {
            t->least = e;
            snprintf(t->least_name, sizeof t->least_name, "%s", v->vector);
        }
        t->most = fmax(t->most, e);
    }
}

/* Are there inputs that are no numbers of the profile's type? What rounding
 * those does is not in its envelope. */
static int changes(const struct vector *v, const struct profile *p)
{
    FOR(m, v->count) if (isfinite(v->numbers[m]) && profile_round(p, v->numbers[m]) != v->numbers[m])
        return 1;
    return 0;
}

/* One vector, one scope: judged under its own profile and all looser ones. */
static const char *judge_one(struct tally tally[PROFILES], struct kernel *x, enum scope scope, const char *path, const char *name)
{
    struct adapter_call state = { scope == SCOPE_CORE ? x->core : x->layer };
    struct adapter adapter = adapter_call(&state, x->name, scope);
    struct result result = { .outcome = OUTCOME_PASS };
    static struct vector v;
    const char *wrong = vector_read(&v, path, name);

    if (wrong)
        return wrong;
    int rounded = vector_round(&v, profile_rounding, x->profile);
    adapter.answer(&adapter, &result, &v, x->profile);
    for (const struct profile *p = x->profile; p < profiles + PROFILES; p++) {
        struct verdict verdict = { .outcome = result.outcome, .worst.stage = STAGES };
        snprintf(verdict.vector, sizeof verdict.vector, "%s", name);
        memcpy(verdict.reason, result.reason, sizeof verdict.reason);
        if (p != x->profile && changes(&v, p))
            verdict.outcome = OUTCOME_SKIP;
        else if (result.outcome == OUTCOME_PASS)
            judge(&verdict, &v, rounded, result.got, p, scope);
        count(&tally[p - profiles], &verdict);
        if (x->honest && (verdict.outcome == OUTCOME_FAIL || verdict.outcome == OUTCOME_ERROR)) {
            printf("  %s %s: %s", scope == SCOPE_CORE ? "core" : "layer", verdict.vector, verdict.reason);
            if (verdict.worst.stage != STAGES)
                printf(" (got %.9g, expected %.9g, sigma %.3g, %.3g sigma)", verdict.worst.got, verdict.worst.expected,
                       verdict.worst.sigma, verdict.worst.error_sigma);
            printf("\n");
        }
        if (x->honest)
            break;
    }
    mha_free(result.got);
    vector_free(&v);
    return NULL;
}

static int check(struct kernel *x, const char *dir)
{
    struct corpus corpus;
    struct choice choice;
    struct tally tally[PROFILES] = { { 0 } };
    const char *wrong = corpus_open(&corpus, dir), *meets = "none";

    if (wrong)
        return say_no(dir, wrong);
    if ((wrong = corpus_choose(&choice, &corpus, 0, NULL)))
        return say_no(dir, wrong);
    printf("%s (%s): %s\n", x->name, x->card->profile, x->card->about);
    FOR(c, choice.count) for (int scope = SCOPE_LAYER; !wrong && scope <= SCOPE_CORE; scope++)
        if (scope == SCOPE_LAYER || x->core)
            wrong = judge_one(tally, x, (enum scope)scope, choice.chosen[c].path, choice.chosen[c].name);
    choice_free(&choice);
    corpus_close(&corpus);
    if (wrong)
        return say_no(dir, wrong);

    for (size_t k = PROFILES; k-- > 0;) {
        struct tally *t = &tally[k];
        if (!t->passed && !t->failed)
            continue;
        if (!t->failed)
            meets = profiles[k].name;
        printf("  %-8s passed %zu, failed %zu, not applicable %zu; passed with at most %.2f sigma (%s)", profiles[k].name,
               t->passed, t->failed, t->skipped, t->worst, t->worst_name);
        if (t->failed)
            printf(", failed with %.3g (%s) to %.3g sigma", t->least, t->least_name, t->most);
        printf("\n");
    }
    printf("  meets %s\n", meets);
    if (strcmp(meets, x->card->meets) != 0)
        printf("  but should meet %s\n", x->card->meets);
    return strcmp(meets, x->card->meets) != 0;
}

/* ---- random ---- */

struct score {
    size_t cases, skipped, elements, beyond, beyond_cases, noisy;
    double worst, squares;
    char worst_at[160];
};

static void compare(struct score *s, const struct array got[STAGES], const struct expected *expected, const char *name)
{
    double best_worst = INFINITY;
    struct score best = *s;

    /* the answer that fits best, as the judge does it */
    FOR(a, expected->answers) {
        const struct answer *answer = &expected->answer[a];
        struct score now = *s;
        double worst = 0;
        size_t beyond = 0;
        FOR(k, STAGES) {
            struct comparison c;
            if (!got[k].v)
                continue;
            compare_stage(&c, (enum mha_stage)k, &got[k], &answer->stage[k], &answer->sigma[k], expected->profile);
            now.elements += c.measured;
            now.squares += c.squares;
            beyond += c.wrong;
            now.noisy += !c.passed && !c.wrong;
            worst = c.worst.stage == STAGES ? worst : fmax(worst, c.worst.error_sigma);
            if (c.worst.stage != STAGES && c.worst.error_sigma > now.worst) {
                now.worst = c.worst.error_sigma;
                snprintf(now.worst_at, sizeof now.worst_at, "%s %s", name, answer->stage[k].name);
            }
        }
        now.beyond += beyond;
        now.beyond_cases += beyond != 0;
        if (a == 0 || worst < best_worst) {
            best_worst = worst;
            best = now;
        }
    }
    *s = best;
}

static const char *run_case(struct score *score, struct kernel *x, size_t kernels, size_t kind, enum adversary_size size, uint64_t seed)
{
    const char *wrong = NULL;

    FOR(k, PROFILES) {
        static struct vector v;
        struct expected expected;
        int wanted = 0, rounded;
        FOR(m, kernels) wanted |= x[m].profile == &profiles[k];
        if (!wanted)
            continue;
        if ((wrong = adversary_make(&v, kind, size, seed)))
            return wrong;
        rounded = vector_round(&v, profile_rounding, &profiles[k]);
        wrong = expected_make(&expected, &v, rounded, &profiles[k], SCOPE_LAYER);
        FOR(m, kernels) {
            if (wrong || x[m].profile != &profiles[k])
                continue;
            score[m].cases++;
            if (expected.not_applicable) {
                score[m].skipped++;
                continue;
            }
            struct adapter_call state = { x[m].layer };
            struct adapter adapter = adapter_call(&state, x[m].name, SCOPE_LAYER);
            struct result result = { .outcome = OUTCOME_PASS };
            adapter.answer(&adapter, &result, &v, &profiles[k]);
            if (result.outcome == OUTCOME_PASS)
                compare(&score[m], result.got, &expected, v.name);
            else
                wrong = "a kernel did not answer";
            mha_free(result.got);
        }
        if (!wrong)
            expected_free(&expected);
        vector_free(&v);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* SIZE is small, medium or large; a kind of its own: small/ties */
static int hard(const char *size_and_kind, uint64_t first, uint64_t cases, struct kernel *x, size_t kernels)
{
    static const char *const sizes[ADVERSARY_SIZES] = { "small", "medium", "large" };
    struct score *score = calloc(kernels, sizeof *score);
    const char *kind = strchr(size_and_kind, '/');
    size_t length = kind ? (size_t)(kind - size_and_kind) : strlen(size_and_kind);
    int size = 0, failed = 0;

    while (size < ADVERSARY_SIZES && (strlen(sizes[size]) != length || strncmp(size_and_kind, sizes[size], length) != 0))
        size++;
    if (!score || size == ADVERSARY_SIZES) {
        free(score);
        return say_no(size_and_kind, "not a size: small, medium or large");
    }
    FOR(k, adversary_kinds()) for (uint64_t seed = first; seed < first + cases; seed++) {
        const char *wrong = kind && strcmp(kind + 1, adversary_kind(k)) != 0 ? NULL
                          : run_case(score, x, kernels, k, (enum adversary_size)size, seed);
        if (wrong) {
            free(score);
            return say_no(adversary_kind(k), wrong);
        }
    }
    FOR(m, kernels) {
        const struct score *s = &score[m];
        printf("size %.*s\tkind %s\tkernel %s\thonest %d\tprofile %s\tcases %zu\tnot_applicable %zu\telements %zu\tworst_sigma %.3f\tnoise %.4f"
               "\tbeyond_elements %zu\tbeyond_cases %zu\tnoisy_stages %zu\tworst_at %s\n",
               (int)length, size_and_kind, kind ? kind + 1 : "all", x[m].name, x[m].honest, x[m].profile->name, s->cases, s->skipped, s->elements, s->worst,
               s->elements ? sqrt(s->squares / (double)s->elements) : 0, s->beyond, s->beyond_cases, s->noisy,
               s->worst_at[0] ? s->worst_at : "-");
        failed |= x[m].honest && (s->beyond_cases || s->noisy);
    }
    free(score);
    return failed;
}

int main(int argc, char **argv)
{
    int random = argc > 1 && strcmp(argv[1], "random") == 0, first = random ? 5 : 3, status = 2;
    size_t kernels = argc > first ? (size_t)(argc - first) : 0;
    struct kernel *x = calloc(kernels ? kernels : 1, sizeof *x);
    const char *wrong = NULL;

    if (!x || !kernels || (!random && (argc != 4 || strcmp(argv[1], "check") != 0))) {
        free(x);
        return say_no("usage", "check VECTORS KERNEL.so | random SIZE[/KIND] FIRST COUNT KERNEL.so...");
    }
    FOR(m, kernels) if (!wrong && (wrong = kernel_open(&x[m], argv[first + (int)m])))
        say_no(argv[first + (int)m], wrong);
    if (!wrong)
        status = random ? hard(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10), x, kernels) : check(&x[0], argv[2]);
    free(x);
    return status;
}
