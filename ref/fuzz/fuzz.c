/* SPDX-License-Identifier: MIT */
/*
 * What follows from a run: the failing case made smaller, and its diagnosis.
 */
#include "fuzz.h"

#include <stdlib.h>

#include "run.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

#define WITNESSES 64    /* cases besides the failing one that the diagnosis looks at */

/* Case k of the diagnosis: the failing one, then cases of small sizes, since
 * every mistake is computed for every case. */
static const char *witness(struct npz *z, const struct fuzz *fuzz, size_t k)
{
    const struct fuzz_stream small = { .seed = fuzz->stream.seed, .small = 1, .finite = fuzz->stream.finite };

    return k ? fuzz_case(z, NULL, &small, fuzz->number + k - 1) : npz_copy(z, &fuzz->small, NULL);
}

static const char *diagnose_failure(struct fuzz *fuzz)
{
    struct judged_vector *e = calloc(WITNESSES + 1, sizeof *e);
    struct verdict *v = calloc(WITNESSES + 1, sizeof *v);
    struct npz *z = calloc(WITNESSES + 1, sizeof *z);
    const char *error = e && v && z ? NULL : "not enough memory for the diagnosis";
    size_t count = 0;

    for (; !error && count <= WITNESSES && !(fuzz->stop && *fuzz->stop); count++) {
        e[count] = (struct judged_vector){ .name = "fuzz", .file = &z[count], .verdict = &v[count] };
        error = witness(&z[count], fuzz, count);
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

const char *fuzz_run(struct fuzz *fuzz)
{
    const char *error = run_cases(fuzz);

    if (error || !fuzz->failed || fuzz->find_only)
        return error;
    if ((error = fuzz_case(&fuzz->small, NULL, &fuzz->stream, fuzz->number))
        || (error = fuzz_shrink(&fuzz->small, &fuzz->verdict, fuzz)))
        return error;
    return diagnose_failure(fuzz);
}

void fuzz_write_kinds(FILE *out, const struct fuzz *fuzz)
{
    for (int a = 0; a < FUZZ_ASPECTS; a++) {
        const char *name, *between = "";
        fprintf(out, "  %-17s ", fuzz_aspect_name((enum fuzz_aspect)a));
        for (size_t k = 0; (name = fuzz_kind_name((enum fuzz_aspect)a, k)); k++)
            if (fuzz->made[a][k]) {
                fprintf(out, "%s%s %.1f %%", between, name, 100.0 * (double)fuzz->made[a][k] / (double)fuzz->done);
                between = ", ";
            }
        fprintf(out, "\n");
    }
}

void fuzz_write_kinds_json(FILE *out, const struct fuzz *fuzz)
{
    for (int a = 0; a < FUZZ_ASPECTS; a++) {
        const char *name;
        fprintf(out, "%s\"%s\": {", a ? ", " : "{", fuzz_aspect_name((enum fuzz_aspect)a));
        for (size_t k = 0; (name = fuzz_kind_name((enum fuzz_aspect)a, k)); k++)
            fprintf(out, "%s\"%s\": %llu", k ? ", " : "", name, (unsigned long long)fuzz->made[a][k]);
        fprintf(out, "}");
    }
    fprintf(out, "}");
}
