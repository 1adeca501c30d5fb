/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "numbers.h"

static const char help[] =
    "usage: qkvec show [OPTION...] VECTOR [MEMBER...]\n\n"
    "What is in a vector: prose, configuration, members. With the names of members the\n"
    "numbers of these alone: arguments, parameters, stages (computed where the file does\n"
    "not store them), sigma.output, alt.zero_rows.output, ...\n\n"
    "  --exact          hexadecimal floating point, as in C\n"
    "  --vectors DIR    where the vectors are\n\n"
    "  qkvec show core/answer\n"
    "  qkvec show core/answer scores attn_weights\n"
    "  qkvec show --exact mine.npz query\n";

/* Prose with its own lines, all below the first word. */
static int prose(const struct vector *v, const char *member, const char *title)
{
    char *text = vector_text(v, member);

    if (!text)
        return complain(v->name, "not enough memory");
    if (text[0]) {
        printf("  %-10s ", title);
        for (const char *c = text; *c; c++) {
            putchar(*c);
            if (*c == '\n')
                printf("  %-10s ", "");
        }
        putchar('\n');
    }
    free(text);
    return 0;
}

static int show_all(const struct vector *v)
{
    char sizes[SIZES], shape[128], number[NUMBER];
    size_t width = 0;

    puts(v->name);
    if (prose(v, "about", "about") || prose(v, "made_by", "made by"))
        return NOT_JUDGED;
    printf("  %-10s %s\n\nconfiguration\n", "sizes", sizes_text(sizes, &v->in));
    for (size_t k = 0; k < v->file.count; k++) {
        const struct npz_array *a = &v->file.arrays[k];
        width = strlen(a->name) > width ? strlen(a->name) : width;
    }
    for (size_t k = 0; k < v->file.count; k++) {
        const struct npz_array *a = &v->file.arrays[k];
        if (a->ndim == 0)
            printf("  %-*s  %s\n", (int)width, a->name, number_text(number, a, 0, 0));
    }
    puts("\nmembers");
    for (size_t k = 0; k < v->file.count; k++) {
        const struct npz_array *a = &v->file.arrays[k];
        if (a->ndim > 0)
            printf("  %-*s  %s  %s\n", (int)width, a->name, npz_type_name(a->type), npz_shape_text(shape, a));
    }
    return 0;
}

/* Every stage of the recipe as arrays, for what the file does not store. */
static int interpret(struct npz *z, const struct vector *v)
{
    struct array t[STAGES];
    const char *wrong = mha_alloc(t, &v->in);

    if (wrong)
        return complain(v->name, "%s", wrong);
    mha_forward(t, &v->in);
    wrong = vector_put_stages(z, "", t);
    mha_free(t);
    return wrong ? complain(v->name, "%s", wrong) : 0;
}

static int show_members(const struct vector *v, int names, char **name, int exact)
{
    struct npz computed = { 0 };
    int status = 0;

    for (int k = 0; k < names && !status; k++) {
        const struct npz_array *a = npz_get(&v->file, name[k]);
        if (!a && !computed.count)
            status = interpret(&computed, v);
        if (!a)
            a = npz_get(&computed, name[k]);
        if (a)
            print_array(stdout, a, exact);
        else if (!status)
            status = complain(name[k], "no member and no stage of %s; qkvec show %s lists them", v->name, v->name);
    }
    npz_free(&computed);
    return status;
}

int command_show(int argc, char **argv)
{
    const char *dir = NULL;
    int exact = 0, words, status;
    const struct option options[] = { { "--vectors", &dir, NULL }, { "--exact", NULL, &exact }, { NULL, NULL, NULL } };
    struct vector v;

    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (!words)
        return complain("show", "name a vector; see qkvec show --help");
    if ((status = wanted_one(&v, dir, argv[0])))
        return status;
    status = words == 1 ? show_all(&v) : show_members(&v, words - 1, argv + 1, exact);
    vector_free(&v);
    return status;
}
