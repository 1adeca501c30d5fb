/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

#define WITNESSES 64    /* cases after the failing one that the diagnosis looks at */

const char *fuzz_judge(struct verdict *verdict, struct array kept[STAGES], struct fuzz *fuzz, const struct npz *z)
{
    struct npz copy;
    const char *error = npz_copy(&copy, z, NULL);

    if (error)
        return error;
    return judge_arrays(verdict, kept, fuzz->adapter, &copy, "fuzz", fuzz->profile, fuzz->error);
}

/* What the kernel does with the cases from the failing one on. */
static const char *look(struct fuzz *fuzz)
{
    struct judged_vector *e = calloc(WITNESSES + 1, sizeof *e);
    struct verdict *v = calloc(WITNESSES + 1, sizeof *v);
    struct npz *z = calloc(WITNESSES + 1, sizeof *z);
    const char *error = e && v && z ? NULL : "not enough memory for the diagnosis";
    size_t count = 0;

    for (; !error && count <= WITNESSES && !(fuzz->stop && *fuzz->stop); count++) {
        e[count] = (struct judged_vector){ .name = "fuzz", .file = &z[count], .verdict = &v[count] };
        error = count ? fuzz_case(&z[count], fuzz->number + count - 1) : npz_copy(&z[0], &fuzz->small, NULL);
        if (!error)
            error = fuzz_judge(&v[count], e[count].got, fuzz, &z[count]);
    }
    if (!error)
        error = diagnose(&fuzz->diagnosis, e, count, fuzz->profile);
    FOR(k, e && z ? count : 0) {
        mha_free(e[k].got);
        npz_free(&z[k]);
    }
    free(e);
    free(v);
    free(z);
    return error;
}

static const char *found(struct fuzz *fuzz, uint64_t number)
{
    const char *error;

    fuzz->failed = 1;
    fuzz->number = number;
    if ((error = fuzz_case(&fuzz->small, number)) || (error = fuzz_shrink(&fuzz->small, &fuzz->verdict, fuzz)))
        return error;
    return look(fuzz);
}

static const char *one(struct fuzz *fuzz, uint64_t number)
{
    struct npz z;
    const char *error = fuzz_case(&z, number);

    if (!error)
        return judge_arrays(&fuzz->verdict, NULL, fuzz->adapter, &z, "fuzz", fuzz->profile, fuzz->error);
    snprintf(fuzz->error, sizeof fuzz->error, "%s", error);    /* it may be z's own */
    npz_free(&z);
    return fuzz->error;
}

const char *fuzz_run(struct fuzz *fuzz)
{
    const char *error = NULL;

    fuzz->adapter->pass_suffices = 1;    /* nobody sees the verdict of a case that passes */
    for (; !error && !fuzz->failed && fuzz->done < fuzz->count; fuzz->done++) {
        uint64_t number = fuzz->seed + fuzz->done;
        error = one(fuzz, number);
        if (fuzz->stop && *fuzz->stop)    /* an interrupted case is none, whatever its verdict */
            break;
        if (error)
            continue;
        fuzz->passed += fuzz->verdict.outcome == OUTCOME_PASS;
        fuzz->skipped += fuzz->verdict.outcome == OUTCOME_SKIP;
        if (fuzz->verdict.outcome != OUTCOME_PASS && fuzz->verdict.outcome != OUTCOME_SKIP)
            error = found(fuzz, number);
        if (fuzz->progress && fuzz->done % 256 == 0)
            fuzz->progress(fuzz);
    }
    return error;
}
