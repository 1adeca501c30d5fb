/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "report/report.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct verdict verdict(const char *vector, enum outcome outcome, const char *reason)
{
    struct verdict v = { .outcome = outcome, .profile = &profiles[PROFILE_FLOAT32], .first_wrong = STAGES,
                         .noise = NAN, .worst.stage = STAGES };

    snprintf(v.vector, sizeof v.vector, "%s", vector);
    snprintf(v.reason, sizeof v.reason, "%s", reason);
    return v;
}

/* A pass, a failure that is tf32, a skip; then a crash of hostile words. */
static struct verdict verdicts[4];

static struct report report(size_t count)
{
    verdicts[0] = verdict("core/a", OUTCOME_PASS, "");
    verdicts[0].judged = 1u << OUTPUT;
    verdicts[0].finite = 1;
    verdicts[0].meets = &profiles[PROFILE_FLOAT64];
    verdicts[0].policy = &policies[POLICY_PYTORCH];
    verdicts[0].noise = 0.5;
    verdicts[0].worst = (struct element){ OUTPUT, 3, { 0, 1, 2, 0 }, 1, 1.25, 0.125, 2 };
    verdicts[1] = verdict("core/b", OUTCOME_FAIL, "1 element");
    verdicts[1].judged = 1u << OUTPUT | 1u << ATTN_WEIGHTS;
    verdicts[1].first_wrong = ATTN_WEIGHTS;
    verdicts[1].meets = &profiles[PROFILE_TF32];
    verdicts[1].noise = 2;
    verdicts[1].worst = (struct element){ ATTN_WEIGHTS, 4, { 0, 1, 2, 3 }, NAN, -INFINITY, 0, INFINITY };
    verdicts[2] = verdict("mask/c", OUTCOME_SKIP, "not applicable");
    verdicts[3] = verdict("x/\x1b[2J<\"&'>#.npz", OUTCOME_CRASH, "\x1b]0;\x07 <b> & \"q\"\nok 9 - forged\xff");
    return (struct report){ .kernel = "k", .profile = &profiles[PROFILE_FLOAT32], .corpus_version = "1", .corpus_hash = "ab",
                            .count = count, .verdicts = verdicts, .rerun = "qkvec check" };
}

static char *written(const struct report *r, enum report_format format)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    report_write(f, r, format);
    fclose(f);
    return text;
}

static void expect(const char *text, const char *want)
{
    cr_assert(strstr(text, want), "wanted: %s\nfound:\n%s", want, text);
}

Test(report, status_and_tally)
{
    struct report r = report(3);
    struct tally t;

    report_tally(&t, &r, NULL);
    cr_assert_eq(t.vectors, 3);
    cr_assert_eq(t.passed, 1);
    cr_assert_eq(t.failed, 1);
    cr_assert_eq(t.skipped, 1);
    cr_assert_eq(t.worst, INFINITY);
    cr_assert_str_eq(t.worst_vector, "core/b");
    cr_assert_float_eq(t.noise, sqrt((0.25 + 4) / 2), 1e-15);
    cr_assert_eq(t.judged[OUTPUT], 2);
    cr_assert_eq(t.judged[ATTN_WEIGHTS], 1);
    cr_assert_eq(t.meets, &profiles[PROFILE_TF32]);
    report_tally(&t, &r, "mask");
    cr_assert_eq(t.vectors, 1);
    cr_assert(isnan(t.worst) && isnan(t.noise) && isnan(t.typical));
    cr_assert_null(t.meets);

    cr_assert_eq(report_status(&r), 1);
    r.count = 1;
    cr_assert_eq(report_status(&r), 0);
    r.count = 0;
    cr_assert_eq(report_status(&r), 2);
    r = (struct report){ .count = 1, .verdicts = verdicts + 2 };
    cr_assert_eq(report_status(&r), 2);    /* only skips */
    for (int k = OUTCOME_CRASH; k < OUTCOMES; k++) {
        verdicts[2].outcome = (enum outcome)k;
        cr_assert_eq(report_status(&r), k == OUTCOME_UNJUDGED ? 2 : 1);
    }
}

Test(report, text)
{
    struct report r = report(3);
    char *text = written(&r, REPORT_TEXT);

    expect(text, "FAIL core/b: 1 element\n");
    expect(text, "first wrong stage  attn_weights\n");
    expect(text, "attn_weights[0,1,2,3]: got nan, expected -inf\n");
    expect(text, "finding            You asked for float32; these results are tf32.\n");
    expect(text, "again              qkvec check core/b\n");
    expect(text, "skip mask/c: not applicable\n");
    expect(text, "1 passed, 1 failed, 1 skipped");
    expect(text, "\nnot conformant\n");
    free(text);
    r.count = 1;
    text = written(&r, REPORT_TEXT);
    expect(text, "\nconformant\n");
    expect(text, "attn_weights not judged");
    free(text);
}

Test(report, json)
{
    struct report r = report(2);
    char *text = written(&r, REPORT_JSON);

    expect(text, "{\"vector\":\"core/a\",\"verdict\":\"pass\",\"profile\":\"float32\",\"meets\":\"float64\",\"policy\":\"pytorch\",\"is_policy\":false,\"noise\":0.5,"
                 "\"worst\":{\"stage\":\"output\",\"index\":[0,1,2],\"got\":1,\"expected\":1.25,\"sigma\":0.125,\"error_sigma\":2},"
                 "\"first_wrong_stage\":null,\"judged\":[\"output\"],\"reason\":\"\"}");
    expect(text, "\"policy\":null,\"is_policy\":false,\"noise\":2,\"worst\":{\"stage\":\"attn_weights\",\"index\":[0,1,2,3],"
                 "\"got\":\"nan\",\"expected\":\"-inf\",\"sigma\":0,\"error_sigma\":\"inf\"}");
    free(text);
    r.count = 0;
    text = written(&r, REPORT_JSON);
    expect(text, "\"verdict\":\"nothing was judged\"");
    free(text);
}

/* What a kernel says, or a file is called, reaches neither the terminal nor the format. */
Test(report, hostile_words)
{
    struct report r = report(4);

    for (int k = 0; k < REPORT_FORMATS; k++) {
        char *text = written(&r, (enum report_format)k);
        for (const char *c = text; *c; c++)
            cr_assert((unsigned char)*c >= 0x20 || *c == '\n', "%s: byte %d", report_formats[k], *c);
        cr_assert_null(strchr(text, 0xff));
        cr_assert_null(strstr(text, "\nok 9"));
        free(text);
    }
    char *text = written(&r, REPORT_JUNIT);
    expect(text, "name=\"x/?[2J&lt;&quot;&amp;&apos;&gt;#.npz\"");
    expect(text, "tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\"");
    free(text);
    text = written(&r, REPORT_TAP);
    expect(text, "not ok 4 - x/?[2J<\"&'>\\#.npz\n");
    free(text);
    text = written(&r, REPORT_TEXT);
    expect(text, "\nfiles ");
    free(text);
}
