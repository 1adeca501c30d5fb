/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* Under every policy but PyTorch's, only what the policy may change; of sigma
 * only what a kernel returns. */
static const char *put(struct npz *file, const struct answer *a, int which)
{
    struct array some[STAGES];
    char prefix[NPZ_NAME];
    const char *error;

    memcpy(some, a->stage, sizeof some);
    for (int k = 0; which && k < POLICY_FIRST_STAGE; k++)
        some[k].v = NULL;
    if (which)
        snprintf(prefix, sizeof prefix, "alt.%s.", a->policy->name);
    else
        prefix[0] = 0;
    if ((error = vector_put_stages(file, prefix, some)))
        return error;
    memset(some, 0, sizeof some);
    some[OUTPUT] = a->sigma[OUTPUT];
    some[ATTN_WEIGHTS] = a->sigma[ATTN_WEIGHTS];
    some[ATTN_WEIGHTS_MEAN] = a->sigma[ATTN_WEIGHTS_MEAN];
    strcat(prefix, "sigma.");
    return vector_put_stages(file, prefix, some);
}

const char *fuzz_write(const char *path, const struct npz *z, const char *about, char error[512])
{
    struct vector v;
    struct expected expected;
    struct npz copy, file;
    const char *wrong = npz_copy(&copy, z, NULL);

    if (wrong || (wrong = vector_from(&v, &copy, "fuzz"))) {
        snprintf(error, 512, "%s", wrong);
        return error;
    }
    if (!(wrong = expected_make(&expected, &v, 0, &profiles[PROFILE_FLOAT32], SCOPE_LAYER))) {
        if (!(wrong = npz_copy(&file, z, NULL))) {
            for (size_t k = 0; !wrong && k < expected.answers; k++)
                if (expected.answer[k].policy)    /* else of two policies */
                    wrong = put(&file, &expected.answer[k], k > 0);
            if (!wrong && !(wrong = vector_put_text(&file, "about", about))
                && !(wrong = vector_put_text(&file, "made_by", "qkvec fuzz: the reference in float64")))
                wrong = npz_write(&file, path);
            if (wrong) {
                snprintf(error, 512, "%s", wrong);
                wrong = error;
            }
            npz_free(&file);
        }
        expected_free(&expected);
    }
    vector_free(&v);
    return wrong;
}
