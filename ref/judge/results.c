/* SPDX-License-Identifier: MIT */
/*
 * Results that somebody wrote to a file.
 *
 * Letters: k stage or dimension, m member, or element of a whole array.
 */
#define _POSIX_C_SOURCE 200809L    /* access() */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

/* A member as a stage: any float type, whatever shape (compare_stage judges that). */
static int take_member(struct array *got, const struct npz_array *member)
{
    *got = (struct array){ .name = member->name, .ndim = member->ndim, .size = member->size };
    FOR(k, 4) got->shape[k] = member->shape[k];
    got->v = malloc((member->size ? member->size : 1) * sizeof *got->v);
    if (got->v)
        npz_values(got->v, member);
    return got->v != NULL;
}

/* "scroes, extra: not the name of a stage, ignored" */
static void name_stranger(struct result *result, const char *name)
{
    static const char end[] = ": no name of a stage, ignored";
    size_t used = strlen(result->reason);

    if (used)
        used -= sizeof end - 1;
    if (used + strlen(name) + sizeof end + 2 < sizeof result->reason)
        snprintf(result->reason + used, sizeof result->reason - used, "%s%s%s", used ? ", " : "", name, end);
}

/* Every member by its name. In reason: what is wrong with the file, or who is not known. */
static void take_members(struct result *result, const struct npz *z, const struct array stage[STAGES])
{
    FOR(m, z->count) {
        const struct npz_array *member = &z->arrays[m];
        size_t k = 0;
        while (k < STAGES && (!vector_keeps((enum mha_stage)k) || strcmp(stage[k].name, member->name) != 0))
            k++;
        if (k == STAGES) {
            name_stranger(result, member->name);
        } else if (member->type != NPZ_F2 && member->type != NPZ_F4 && member->type != NPZ_F8) {
            result->outcome = OUTCOME_FAIL;
            snprintf(result->reason, sizeof result->reason, "%s: found type %s, wanted <f2, <f4 or <f8",
                     member->name, npz_type_name(member->type));
            return;
        } else if (!take_member(&result->got[k], member)) {
            result->outcome = OUTCOME_UNJUDGED;
            snprintf(result->reason, sizeof result->reason, "%s: not enough memory", member->name);
            return;
        } else {
            result->got[k].name = stage[k].name;    /* outlives the file */
        }
    }
}

/* Errors of this process, whatever the file holds. */
static int is_own_error(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO || error == ENOBUFS;
}

void results_read(struct result *result, const char *path, const char *subject, const struct vector *v)
{
    struct array stage[STAGES];    /* for the names */
    struct npz z;
    const char *error;

    errno = 0;
    if ((error = npz_read(&z, path))) {
        result->outcome = is_own_error(errno) ? OUTCOME_UNJUDGED : OUTCOME_FAIL;
        snprintf(result->reason, sizeof result->reason, "%.160s: %.320s", subject, error);
        return;
    }
    if ((error = mha_shapes(stage, &v->in))) {
        result->outcome = OUTCOME_UNJUDGED;
        snprintf(result->reason, sizeof result->reason, "%s", error);
    } else {
        take_members(result, &z, stage);
    }
    npz_free(&z);
}

static void answer_results(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p)
{
    const struct adapter_results *where = self->state;
    char path[4096];

    (void)p;
    const char *name = v->name, *slash = strrchr(name, '/');
    int outside = strlen(name) > 4 && !strcmp(name + strlen(name) - 4, ".npz");    /* the corpus: named by its path */
    if (outside && slash)
        name = slash + 1;
    if (snprintf(path, sizeof path, "%s/%s%s", where->dir, name, outside ? "" : ".npz") >= (int)sizeof path) {
        result->outcome = OUTCOME_UNJUDGED;
        snprintf(result->reason, sizeof result->reason, "the path of the results is too long");
        return;
    }
    if (access(path, F_OK) && errno != ENOENT && errno != ENOTDIR) {
        result->outcome = OUTCOME_UNJUDGED;
        snprintf(result->reason, sizeof result->reason, "%.400s: cannot be examined: %s", path, strerror(errno));
        return;
    }
    if (access(path, F_OK)) {
        result->outcome = where->allow_missing ? OUTCOME_SKIP : OUTCOME_FAIL;
        snprintf(result->reason, sizeof result->reason, "no results: there is no %.400s", path);
        return;
    }
    results_read(result, path, path, v);
}

struct adapter adapter_results(struct adapter_results *where)
{
    return (struct adapter){ .name = where->dir, .answer = answer_results, .state = where };
}
