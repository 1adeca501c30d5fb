/* SPDX-License-Identifier: MIT */
/*
 * Make a wrong result file out of a right one.
 *   edit IN.npz OUT.npz [drop NAME | keep NAME | rename NAME NEW | set NAME INDEX VALUE |
 *                        transpose NAME | single NAME | add NAME]...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/npz.h"

static const char *need(const char *text)
{
    if (!text) {
        fputs("edit: an argument is missing\n", stderr);
        exit(2);
    }
    return text;
}

static struct npz_array *get(struct npz *z, const char *name)
{
    for (size_t k = 0; k < z->count; k++)
        if (!strcmp(z->arrays[k].name, need(name)))
            return &z->arrays[k];
    fprintf(stderr, "edit: %s: no such member\n", name);
    exit(2);
}

static void drop(struct npz *z, struct npz_array *a)
{
    size_t k = (size_t)(a - z->arrays);

    free(a->data);
    memmove(a, a + 1, (z->count - k - 1) * sizeof *a);
    z->count--;
}

/* Swap the first two dimensions of a <f8 array, as (N,L,E) becomes (L,N,E). */
static void transpose(struct npz_array *a)
{
    size_t n = a->shape[0], l = a->shape[1], inner = a->size / (n * l);
    double *from = a->data, *to = malloc(a->size * sizeof *to);

    if (!to)
        exit(2);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < l; j++)
            memcpy(to + (j * n + i) * inner, from + (i * l + j) * inner, inner * sizeof *to);
    a->shape[0] = l;
    a->shape[1] = n;
    free(from);
    a->data = to;
}

/* <f8 to <f4 in place. */
static void make_single(struct npz_array *a)
{
    float *to = malloc(a->size * sizeof *to);

    if (!to)
        exit(2);
    for (size_t m = 0; m < a->size; m++)
        to[m] = (float)npz_value(a, m);
    free(a->data);
    a->data = to;
    a->type = NPZ_F4;
}

int main(int argc, char **argv)
{
    struct npz z;
    const char *wrong;

    if (argc < 3 || (wrong = npz_read(&z, argv[1]))) {
        fprintf(stderr, "edit: %s\n", argc < 3 ? "usage" : wrong);
        return 2;
    }
    for (char **arg = argv + 3; *arg; arg++) {
        const char *what = *arg, *name = need(*++arg);
        if (!strcmp(what, "drop")) {
            drop(&z, get(&z, name));
        } else if (!strcmp(what, "keep")) {
            for (size_t k = z.count; k-- > 0;)
                if (strcmp(z.arrays[k].name, name) != 0)
                    drop(&z, &z.arrays[k]);
        } else if (!strcmp(what, "rename")) {
            struct npz_array *a = get(&z, name);
            snprintf(a->name, sizeof a->name, "%s", need(*++arg));
        } else if (!strcmp(what, "set")) {
            struct npz_array *a = get(&z, name);
            size_t index = (size_t)strtoul(need(*++arg), NULL, 10);
            double value = strtod(need(*++arg), NULL);
            if (a->type != NPZ_F8 || index >= a->size)
                return 2;
            ((double *)a->data)[index] = value;
        } else if (!strcmp(what, "transpose")) {
            transpose(get(&z, name));
        } else if (!strcmp(what, "single")) {
            make_single(get(&z, name));
        } else if (!strcmp(what, "add")) {
            if (!npz_add(&z, name, NPZ_F8, 1, (size_t[]){ 3 }))
                return 2;
        } else {
            fprintf(stderr, "edit: %s: no such edit\n", what);
            return 2;
        }
    }
    if ((wrong = npz_write(&z, argv[2]))) {
        fprintf(stderr, "edit: %s: %s\n", argv[2], wrong);
        return 2;
    }
    npz_free(&z);
    return 0;
}
