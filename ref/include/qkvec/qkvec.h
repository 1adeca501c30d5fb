/* SPDX-License-Identifier: MIT */
/*
 * qkvec as a library: the vectors, the reference, and the judge.
 *
 *     char error[QKVEC_SENTENCE];
 *     struct qkvec_corpus *corpus = qkvec_corpus_open(NULL, error);
 *     struct qkvec_vector *v = qkvec_vector_open(corpus, "core/answer", error);
 *     struct qkvec_array query, mine = { "output", QKVEC_FLOAT32, 3, { 2, 4, 24 }, result };
 *     struct qkvec_verdict verdict;
 *
 *     qkvec_vector_member(&query, v, "query");        and so on: feed your code, which fills result
 *     qkvec_judge(&verdict, v, "float32", &mine, 1);
 *     puts(verdict.outcome == QKVEC_PASS ? "right" : verdict.reason);
 *
 * A function that can fail returns NULL or 0 and writes a sentence into error.
 * Nothing here is global: threads need only keep to vectors of their own.
 *
 * Structures may grow while the major version is 0: the shared library's
 * soname then changes with the minor version.
 */
#ifndef QKVEC_H
#define QKVEC_H

#include <stddef.h>

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QKVEC_SENTENCE 1024

/* More types of numbers, that only files have. QKVEC_BYTES is text in UTF-8. */
enum { QKVEC_INT64 = 16, QKVEC_BYTES = 17 };

/* Numbers in C order. QKVEC_FLOAT16 and QKVEC_BFLOAT16 are two bytes in this machine's order. */
struct qkvec_array {
    const char *name;        /* as in the vector file: "query", "output", "sigma.output", ... */
    uint32_t dtype;
    int ndim;                /* 0 to 4 */
    int64_t shape[4];
    const void *data;
};

/* "0.1.0" */
QKVEC_EXPORT const char *qkvec_library_version(void);

/* ---- vectors ---- */

struct qkvec_corpus;         /* the published vectors, by their index */
struct qkvec_vector;         /* one vector */

/* dir NULL: the environment's QKVEC_VECTORS, else those installed with the library. */
QKVEC_EXPORT struct qkvec_corpus *qkvec_corpus_open(const char *dir, char error[QKVEC_SENTENCE]);
QKVEC_EXPORT void qkvec_corpus_close(struct qkvec_corpus *corpus);
QKVEC_EXPORT const char *qkvec_corpus_version(const struct qkvec_corpus *corpus);
QKVEC_EXPORT size_t qkvec_corpus_count(const struct qkvec_corpus *corpus);
QKVEC_EXPORT const char *qkvec_corpus_name(const struct qkvec_corpus *corpus, size_t k);    /* NULL from count on */

/* A published vector, proven by its hash; and any file that is one. Nothing in
 * a file is believed: a hostile one is a sentence. */
QKVEC_EXPORT struct qkvec_vector *qkvec_vector_open(const struct qkvec_corpus *corpus, const char *name, char error[QKVEC_SENTENCE]);
QKVEC_EXPORT struct qkvec_vector *qkvec_vector_read(const char *path, char error[QKVEC_SENTENCE]);
QKVEC_EXPORT void qkvec_vector_close(struct qkvec_vector *v);

/* A member as stored, to be read until the vector is closed. Returns 0 where there is none. */
QKVEC_EXPORT int qkvec_vector_member(struct qkvec_array *a, const struct qkvec_vector *v, const char *name);

/* ---- the reference ---- */

/* A stage of the computation in float64, as the reference makes it from the
 * vector's inputs: "q_weight" ... "output", in the order and layout of the
 * vectors' README. Returns 0 where there is none (no bias, no memory). */
QKVEC_EXPORT int qkvec_vector_stage(struct qkvec_array *a, struct qkvec_vector *v, const char *name);

/* The reference as a kernel, for any case and type: it computes in float64 and
 * rounds what it returns. Outputs that are NULL are left out. Given heads
 * instead of arguments it is the core. */
QKVEC_EXPORT int qkvec_reference(const struct qkvec_call *call);

/* ---- the judge ---- */

enum qkvec_outcome { QKVEC_PASS, QKVEC_FAIL, QKVEC_NOT_JUDGED };

struct qkvec_verdict {
    enum qkvec_outcome outcome;   /* not judged: not applicable to the profile, skipped by the kernel, or an error */
    const char *meets;            /* the tightest profile that the results meet, or NULL */
    const char *policy;           /* the legitimate answer that matched: "pytorch", ...; or NULL */
    const char *first_wrong;      /* the first stage that is wrong, or NULL */
    double noise;                 /* rms error in sigma; NaN where none was measured */
    const char *stage;            /* of the worst element, or NULL: there is none */
    int ndim;
    int64_t index[4];
    double got, expected, sigma, error_sigma;
    char reason[512];             /* one sentence; "" for a plain pass */
};

/* Are these the stages that the vector's inputs lead to, as far as rounding of
 * that profile may move them? "output" must be among them; what else there is
 * is judged too. profile: "float64", "float32", "tf32", "float16", "bfloat16".
 * Returns whether the outcome is QKVEC_PASS. */
QKVEC_EXPORT int qkvec_judge(struct qkvec_verdict *verdict, const struct qkvec_vector *v, const char *profile,
                             const struct qkvec_array *got, size_t count);

/* Call a kernel in this process and judge what it gives. core: it is a
 * qkvec_attention_core. Nothing guards the process: see "qkvec check --kernel". */
QKVEC_EXPORT int qkvec_judge_kernel(struct qkvec_verdict *verdict, const struct qkvec_vector *v, const char *profile,
                                    int (*kernel)(const struct qkvec_call *call), int core);

/* ---- many vectors, one report ---- */

struct qkvec_run;            /* what one kernel did with some vectors */

/* kernel: its name in the report. core: it is a qkvec_attention_core. pattern:
 * which vectors are going to be judged, for the certificate; NULL: all. allow:
 * policies "NAME,NAME" as for "qkvec check --allow", or NULL. corpus has to stay
 * open as long as the run. */
QKVEC_EXPORT struct qkvec_run *qkvec_run_open(const struct qkvec_corpus *corpus, const char *kernel, const char *profile, int core,
                                              const char *pattern, const char *allow, char error[QKVEC_SENTENCE]);
QKVEC_EXPORT void qkvec_run_close(struct qkvec_run *run);

/* The same as qkvec_judge_kernel() and qkvec_judge(), and kept for the report. */
QKVEC_EXPORT int qkvec_run_kernel(struct qkvec_run *run, struct qkvec_verdict *verdict, const struct qkvec_vector *v,
                                  int (*kernel)(const struct qkvec_call *call));
QKVEC_EXPORT int qkvec_run_results(struct qkvec_run *run, struct qkvec_verdict *verdict, const struct qkvec_vector *v,
                                   const struct qkvec_array *got, size_t count);

/* The exit status of "qkvec check": 0 conformant, 1 not conformant, 2 nothing was judged. */
QKVEC_EXPORT int qkvec_run_status(const struct qkvec_run *run);

/* The report of "qkvec check", likely mistake included, as "text", "json",
 * "junit" or "tap". Free it with qkvec_text_free(). */
QKVEC_EXPORT char *qkvec_run_report(const struct qkvec_run *run, const char *format, char error[QKVEC_SENTENCE]);
QKVEC_EXPORT void qkvec_text_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
