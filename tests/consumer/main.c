/* SPDX-License-Identifier: MIT */
/* Every function of qkvec/qkvec.h, as other programs use them. main [VECTORS] */
#include <qkvec/qkvec.h>    /* first: it needs nothing before it */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) ((x) ? (void)0 : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #x), exit(1)))

static int refuses(const struct qkvec_call *call)
{
    strcpy(call->reason, "not today");
    return QKVEC_SKIP;
}

/* The reference, with the last output spoilt. */
static int spoils(const struct qkvec_call *call)
{
    int done = qkvec_reference(call);

    ((float *)call->output)[call->N * call->L * call->E - 1] += 1;
    return done;
}

/* The numbers of a stage as they are; as they are in float32; one of them wrong. */
static void judge_arrays(struct qkvec_vector *v)
{
    struct qkvec_verdict verdict;
    struct qkvec_array output, scores, mine[2];
    float number[2 * 4 * 24];
    size_t m;

    CHECK(qkvec_vector_stage(&output, v, "output") && output.dtype == QKVEC_FLOAT64 && output.ndim == 3);
    CHECK(output.shape[0] == 2 && output.shape[1] == 4 && output.shape[2] == 24);
    CHECK(qkvec_vector_stage(&scores, v, "scores") && scores.ndim == 4);
    CHECK(!qkvec_vector_stage(&mine[0], v, "no such stage"));
    for (m = 0; m < 2 * 4 * 24; m++)
        number[m] = (float)((const double *)output.data)[m];

    mine[0] = output, mine[1] = scores;
    CHECK(qkvec_judge(&verdict, v, "float64", mine, 2) && verdict.outcome == QKVEC_PASS && !verdict.reason[0]);
    CHECK(!strcmp(verdict.meets, "float64") && !verdict.first_wrong);
    mine[0].dtype = QKVEC_FLOAT32, mine[0].data = number;
    CHECK(qkvec_judge(&verdict, v, "float32", mine, 1) && !strcmp(verdict.meets, "float32"));
    CHECK(!qkvec_judge(&verdict, v, "float64", mine, 1) && verdict.outcome == QKVEC_FAIL);
    number[5] += 1;
    CHECK(!qkvec_judge(&verdict, v, "float32", mine, 2) && !strcmp(verdict.first_wrong, "output"));
    CHECK(!strcmp(verdict.stage, "output") && verdict.index[0] == 0 && verdict.index[1] == 0 && verdict.index[2] == 5);
    CHECK(verdict.error_sigma > 1000 && verdict.reason[0]);

    CHECK(!qkvec_judge(&verdict, v, "float33", mine, 1) && verdict.outcome == QKVEC_NOT_JUDGED);
    CHECK(!qkvec_judge(&verdict, v, "float32", &scores, 1) && verdict.outcome == QKVEC_FAIL);    /* no output */
    mine[1] = mine[0];
    CHECK(!qkvec_judge(&verdict, v, "float32", mine, 2) && verdict.outcome == QKVEC_NOT_JUDGED);    /* twice */
    mine[0].name = "no such stage";
    CHECK(!qkvec_judge(&verdict, v, "float32", mine, 1) && verdict.outcome == QKVEC_NOT_JUDGED);
    mine[1].shape[0] = INT64_MAX;
    CHECK(!qkvec_judge(&verdict, v, "float32", mine + 1, 1) && verdict.outcome == QKVEC_NOT_JUDGED);
    mine[1].shape[0] = 1;
    CHECK(!qkvec_judge(&verdict, v, "float32", mine + 1, 1) && verdict.outcome == QKVEC_FAIL);
}

static void judge_kernels(const struct qkvec_vector *v)
{
    struct qkvec_verdict verdict;

    CHECK(qkvec_judge_kernel(&verdict, v, "float32", qkvec_reference, 0));
    CHECK(qkvec_judge_kernel(&verdict, v, "float64", qkvec_reference, 1));
    CHECK(!qkvec_judge_kernel(&verdict, v, "float32", spoils, 0) && !strcmp(verdict.stage, "output"));
    CHECK(!qkvec_judge_kernel(&verdict, v, "float32", refuses, 0) && verdict.outcome == QKVEC_NOT_JUDGED);
    CHECK(strstr(verdict.reason, "not today"));
}

/* The reference as a core adds the merged mask, whatever masks of a layer are beside it. */
static void core_adds_mask(void)
{
    const float ones[2] = { 1, 1 }, values[2] = { 3, 7 }, mask[2] = { 0, -HUGE_VALF };
    float weights[2], heads[1];
    uint32_t written = 0;
    struct qkvec_call call = {
        .abi = QKVEC_ABI, .size = sizeof call, .dtype = QKVEC_FLOAT32, .N = 1, .L = 1, .S = 1, .Sx = 2, .E = 1, .Ek = 1, .Ev = 1, .H = 1,
        .mask = mask, .q_heads = ones, .k_heads = ones, .v_heads = values,
        .attn_weights = weights, .head_outputs = heads, .written = &written,
    };

    CHECK(qkvec_reference(&call) == QKVEC_DONE && written == (QKVEC_ATTN_WEIGHTS | QKVEC_HEAD_OUTPUTS));
    CHECK(weights[0] == 1 && weights[1] == 0 && heads[0] == 3);
}

int main(int argc, char **argv)
{
    static const char *const profiles[] = { "float64", "float32", "tf32", "float16", "bfloat16" };
    char error[QKVEC_SENTENCE];
    struct qkvec_corpus *corpus = qkvec_corpus_open("no such directory", error);
    struct qkvec_vector *v;
    struct qkvec_array a;
    size_t k, p, judged = 0;

    CHECK(!corpus && strstr(error, "no such directory/index.json"));
    corpus = qkvec_corpus_open(argc > 1 ? argv[1] : NULL, error);
    if (!corpus)
        puts(error);
    CHECK(corpus && qkvec_corpus_count(corpus) >= 140 && qkvec_corpus_version(corpus)[0]);
    CHECK(!qkvec_vector_open(corpus, "core/no_such", error) && strstr(error, "core/no_such"));
    CHECK(!qkvec_vector_open(corpus, "core/*", error));    /* a name, no pattern */
    CHECK(!qkvec_vector_read("no such file", error) && strstr(error, "no such file"));

    v = qkvec_vector_open(corpus, "core/answer", error);
    CHECK(v && qkvec_vector_member(&a, v, "query") && a.dtype == QKVEC_FLOAT32 && a.ndim == 3 && a.shape[2] == 24);
    CHECK(qkvec_vector_member(&a, v, "embed_dim") && a.dtype == QKVEC_INT64 && *(const int64_t *)a.data == 24);
    CHECK(qkvec_vector_member(&a, v, "about") && a.dtype == QKVEC_BYTES && a.shape[0] > 0);
    CHECK(!qkvec_vector_member(&a, v, "no such member"));
    judge_arrays(v);
    judge_kernels(v);
    core_adds_mask();
    qkvec_vector_close(v);

    /* the reference as a kernel is right on every vector, whole and from the heads on */
    for (k = 0; k < qkvec_corpus_count(corpus); k++) {
        v = qkvec_vector_open(corpus, qkvec_corpus_name(corpus, k), error);
        CHECK(v);
        for (p = 0; p < 2 * sizeof profiles / sizeof *profiles; p++) {
            struct qkvec_verdict verdict;
            if (qkvec_judge_kernel(&verdict, v, profiles[p / 2], qkvec_reference, p % 2))
                judged++;
            else if (verdict.outcome == QKVEC_FAIL || !strstr(verdict.reason, "not applicable"))
                printf("%s %s: %s\n", qkvec_corpus_name(corpus, k), profiles[p / 2], verdict.reason), exit(1);
        }
        qkvec_vector_close(v);
    }
    CHECK(!qkvec_corpus_name(corpus, k));
    printf("qkvec %s, corpus %s: %lu verdicts\n", qkvec_library_version(), qkvec_corpus_version(corpus), (unsigned long)judged);
    CHECK(judged >= 10 * k - k / 3);
    qkvec_vector_close(NULL);
    qkvec_corpus_close(NULL);
    qkvec_corpus_close(corpus);
    return 0;
}
