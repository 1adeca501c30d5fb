/* SPDX-License-Identifier: MIT */
/*
 * Which rule rejects honest kernels, and which accepts wrong ones? And how wide
 * is the gap between the two, in sigma?
 *
 *     bench_judge VECTORS FILE KERNEL.so...
 *
 * Honest kernels and those of less precision are judged on the vectors and on
 * hard inputs (adversary.h) of three sizes; every fault of faults.txt on the
 * vectors. The tables go between the marks of FILE, a page of Markdown ("-":
 * to standard output).
 *
 * Letters: k profile, x kernel, r rule, f fault.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adversary.h"
#include "load.h"
#include "faults/faults.h"
#include "rules.h"
#include "corpus/corpus.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* One line that is written over, and only where somebody looks. */
__attribute__((format(printf, 1, 2)))
static void progress(const char *format, ...)
{
    va_list list;

    if (!isatty(STDERR_FILENO))
        return;
    fputs("\r\033[K", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

#define BEGIN "<!-- bench_judge: begin -->\n"
#define END "<!-- bench_judge: end -->\n"

static const int judged[] = { PROFILE_FLOAT32, PROFILE_FLOAT16, PROFILE_BFLOAT16 };
enum { JUDGED = sizeof judged / sizeof *judged };
static const uint64_t seeds[ADVERSARY_SIZES] = { 6, 1, 1 };    /* of each kind; of the large ones every 16th kind */

/* Of one profile. */
struct counts {
    size_t kernels, results, rejected[RULES];    /* honest kernels, and what became of their results */
    double honest;                               /* largest error in sigma */
    char honest_at[160];
    size_t less, less_accepted[RULES];           /* results of kernels with tf32 operands */
    double less_error;                           /* the smallest of the largest errors in sigma of such a kernel */
    size_t unnoticed[RULES];                     /* faults */
    double fault;                                /* smallest error in sigma that is the largest of its fault */
    char fault_name[64];
    size_t not_applicable;
};

struct bench {
    struct kernel *kernels;
    size_t count;
    double *less_most;        /* (kernels): largest error in sigma of each under float32 */
    double *fault_most;       /* (faults): likewise */
    char (*fault_noticed)[RULES];
    struct counts counts[JUDGED];
};

static int is_less_precise(const struct kernel *x)
{
    return !x->honest && strncmp(x->name, "tf32", 4) == 0;
}

static int say_no(const char *subject, const char *sentence)
{
    fprintf(stderr, "bench_judge: %s: %s\n", subject, sentence);
    return 2;
}

static void judge_kernel(struct bench *b, struct counts *c, size_t x, const struct vector *v, const struct expected *expected)
{
    struct kernel *kernel = &b->kernels[x];
    struct adapter_call state = { kernel->layer };
    struct adapter adapter = adapter_call(&state, kernel->name, SCOPE_LAYER);
    struct result result = { .outcome = OUTCOME_PASS };

    adapter.answer(&adapter, &result, v, expected->profile);
    if (result.outcome == OUTCOME_PASS) {
        double error = rule_error(result.got, expected);
        for (int r = 0; r < RULES; r++) {
            int accepts = rule_accepts_all(r, result.got, expected);
            if (kernel->honest)
                c->rejected[r] += !accepts;
            else
                c->less_accepted[r] += (size_t)accepts;
        }
        if (kernel->honest) {
            c->results++;
            if (error > c->honest) {
                c->honest = error;
                snprintf(c->honest_at, sizeof c->honest_at, "%s on %.80s", kernel->name, v->name);
            }
        } else {
            c->less++;
            b->less_most[x] = fmax(b->less_most[x], error);
        }
    }
    mha_free(result.got);
}

static const char *judge_faults(struct bench *b, const struct vector *v, const struct expected *expected)
{
    const struct profile *p = expected->profile;

    FOR(f, fault_count) {
        struct array t[STAGES];
        const char *error = mha_alloc(t, &v->in);
        if (error)
            return error;
        if (!(error = fault_forward(t, &v->in, &faults[f], 1))) {
            static const enum mha_stage returned[] = { OUTPUT, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN };
            FOR(s, 3) FOR(m, t[returned[s]].size) t[returned[s]].v[m] = profile_round(p, t[returned[s]].v[m]);
            b->fault_most[f] = fmax(b->fault_most[f], rule_error(t, expected));
            for (int r = 0; r < RULES; r++)
                b->fault_noticed[f][r] |= (char)!rule_accepts_all(r, t, expected);
        }
        mha_free(t);
        if (error)
            return error;
    }
    return NULL;
}

/* v is used up. */
static const char *one_case(struct bench *b, size_t k, struct vector *v, int with_faults)
{
    const struct profile *p = &profiles[judged[k]];
    struct counts *c = &b->counts[k];
    struct expected expected;
    int rounded = vector_round(v, profile_rounding, p);
    const char *error = expected_make(&expected, v, rounded, p, SCOPE_LAYER);

    if (!error) {
        if (expected.not_applicable) {
            c->not_applicable++;
        } else {
            FOR(x, b->count)
                if (b->kernels[x].profile == p && (b->kernels[x].honest || is_less_precise(&b->kernels[x])))
                    judge_kernel(b, c, x, v, &expected);
            if (with_faults)
                error = judge_faults(b, v, &expected);
        }
        expected_free(&expected);
    }
    vector_free(v);
    return error;
}

static const char *one_profile(struct bench *b, size_t k, const struct choice *choice)
{
    const char *error = NULL;

    memset(b->fault_most, 0, fault_count * sizeof *b->fault_most);
    memset(b->fault_noticed, 0, fault_count * sizeof *b->fault_noticed);
    for (size_t n = 0; !error && n < choice->count; n++) {
        static struct vector v;
        if (!(error = vector_read(&v, choice->chosen[n].path, choice->chosen[n].name)))
            error = one_case(b, k, &v, 1);
    }
    for (int size = 0; !error && size < ADVERSARY_SIZES; size++)
        for (size_t kind = 0; !error && kind < adversary_kinds(); kind += size == ADVERSARY_LARGE ? 16 : 1)
            for (uint64_t seed = 0; !error && seed < seeds[size]; seed++) {
                static struct vector v;
                if (!(error = adversary_make(&v, kind, (enum adversary_size)size, seed)))
                    error = one_case(b, k, &v, 0);
                progress("%s: size %d, %s", profiles[judged[k]].name, size, adversary_kind(kind));
            }
    struct counts *c = &b->counts[k];
    c->fault = INFINITY;
    FOR(f, fault_count) {
        for (int r = 0; r < RULES; r++)
            c->unnoticed[r] += !b->fault_noticed[f][r];
        if (b->fault_most[f] < c->fault) {
            c->fault = b->fault_most[f];
            snprintf(c->fault_name, sizeof c->fault_name, "%s", faults[f].name);
        }
    }
    c->less_error = INFINITY;
    FOR(x, b->count) {
        c->kernels += b->kernels[x].honest && b->kernels[x].profile == &profiles[judged[k]];
        if (is_less_precise(&b->kernels[x]))
            c->less_error = fmin(c->less_error, b->less_most[x]);
    }
    return error;
}

static void tables(FILE *f, const struct bench *b, const char *corpus)
{
    char date[32];
    time_t now = time(NULL);

    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(f, "Written by `bench_judge` on %s: corpus %s, %zu faults, and %zu kinds of hard inputs in %d sizes\n"
               "(up to E = 768, and up to L = 512 or S = 4096). A result is what one kernel returns for one input.\n\n", date, corpus, fault_count,
            adversary_kinds(), ADVERSARY_SIZES);
    fputs("| rule |", f);
    FOR(k, JUDGED) fprintf(f, " honest %s results rejected | faults never noticed in %s |", profiles[judged[k]].name, profiles[judged[k]].name);
    fputs(" TF32 results that pass as float32 |\n|---|", f);
    FOR(k, 2 * JUDGED + 1) fputs("---|", f);
    fputs("\n", f);
    for (int r = 0; r < RULES; r++) {
        fprintf(f, "| %s |", rule_names[r]);
        FOR(k, JUDGED) fprintf(f, " %zu of %zu | %zu of %zu |", b->counts[k].rejected[r], b->counts[k].results, b->counts[k].unnoticed[r], fault_count);
        fprintf(f, " %zu of %zu |\n", b->counts[0].less_accepted[r], b->counts[0].less);
    }
    fputs("\n| profile | honest kernels | largest honest error, sigma | where | weakest fault, its largest error in sigma | inputs that it cannot decide |\n"
          "|---|---|---|---|---|---|\n", f);
    FOR(k, JUDGED) {
        const struct counts *c = &b->counts[k];
        fprintf(f, "| %s | %zu | %.2f | %s | `%s`, %.3g | %zu |\n", profiles[judged[k]].name, c->kernels, c->honest, c->honest_at, c->fault_name,
                c->fault, c->not_applicable);
    }
    fprintf(f, "\nThe best of the kernels with TF32 operands reaches %.3g sigma under float32.\n", b->counts[0].less_error);
}

/* Put the tables between the marks of the page. */
static int write_page(const char *path, const struct bench *b, const char *corpus)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL, *begin, *end;
    long size;

    if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET) && (text = calloc((size_t)size + 1, 1))
        && fread(text, 1, (size_t)size, f) != (size_t)size)
        text[0] = 0;
    if (f)
        fclose(f);
    if (!text || !(begin = strstr(text, BEGIN)) || !(end = strstr(begin, END)) || !(f = fopen(path, "wb"))) {
        free(text);
        return say_no(path, "cannot be read and written, or has not the two marks");
    }
    fwrite(text, 1, (size_t)(begin - text) + strlen(BEGIN), f);
    tables(f, b, corpus);
    fputs(end, f);
    free(text);
    return fclose(f) ? say_no(path, "cannot be written") : 0;
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct corpus corpus;
    struct choice choice;
    const char *error = argc > 3 ? NULL : "VECTORS FILE KERNEL.so...";

    if (error)
        return say_no("usage", error);
    b.count = (size_t)(argc - 3);
    b.kernels = calloc(b.count, sizeof *b.kernels);
    b.less_most = calloc(b.count, sizeof *b.less_most);
    b.fault_most = calloc(fault_count + 1, sizeof *b.fault_most);
    b.fault_noticed = calloc(fault_count + 1, sizeof *b.fault_noticed);
    if (!b.kernels || !b.less_most || !b.fault_most || !b.fault_noticed)
        return say_no("start", "not enough memory");
    FOR(x, b.count) if ((error = kernel_open(&b.kernels[x], argv[3 + x])))
        return say_no(argv[3 + x], error);
    if ((error = corpus_open(&corpus, argv[1])) || (error = corpus_choose(&choice, &corpus, 0, NULL)))
        return say_no(argv[1], error);
    for (size_t k = 0; !error && k < JUDGED; k++)
        error = one_profile(&b, k, &choice);
    progress("%s", "");
    if (error)
        return say_no("bench", error);
    if (strcmp(argv[2], "-"))
        return write_page(argv[2], &b, corpus.version);
    tables(stdout, &b, corpus.version);
    return 0;
}
