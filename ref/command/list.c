/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../recipe/policy.h"
#include "command.h"
#include "numbers.h"

static const char help[] =
    "usage: qkvec list [OPTION...] [PATTERN...]\n\n"
    "The vectors that a pattern names (all without one): name, sizes, what is special,\n"
    "the answers other than PyTorch's main one that are accepted, the mistakes that it\n"
    "is there for, what it is about, and the version of the corpus that it is there\n"
    "since. In a pipe each is one line with tabs between.\n\n"
    "  --names          names alone\n"
    "  --vectors DIR    where the vectors are\n"
    "  --corpus V       the vectors of this version of the corpus (default the newest)\n"
    "  --since V        only those that this version added\n\n"
    "A pattern is category/name, a category, a glob over names, or the path of a file.\n\n"
    "  qkvec list\n"
    "  qkvec list core '*mask*'\n"
    "  qkvec list --since 1.1.0\n"
    "  qkvec list --names core | while read name; do qkvec run $name; done\n";

/* The policies beside the main one, in words; "" where there is none. */
static const char *policies_text(char text[128], const struct vector *v)
{
    text[0] = 0;
    for (int k = 0; k < POLICIES; k++)
        if (k != POLICY_PYTORCH && vector_has_policy(v, policies[k].name)) {
            if (text[0])
                strcat(text, " ");
            strcat(text, policies[k].name);
        }
    return text;
}

static const char *or_dash(const char *text)
{
    return text[0] ? text : "-";
}

static int list_one(const struct chosen *chosen, int width, int table)
{
    const struct corpus_vector *entry = chosen->vector;
    struct vector v;
    char sizes[SIZES], others[128], *about;
    const char *wrong = vector_read_chosen(&v, chosen);

    if (wrong)
        return complain(chosen->path, "%s", wrong);
    about = vector_text(&v, "about");
    if (!about) {
        vector_free(&v);
        return complain(chosen->path, "not enough memory");
    }
    for (char *c = about; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    sizes_text(sizes, &v.in);
    policies_text(others, &v);
    if (!table) {
        printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", chosen->name, sizes, or_dash(entry ? entry->flags : ""), or_dash(others),
               or_dash(entry ? entry->catches : ""), or_dash(about), or_dash(entry ? entry->since : ""));
    } else {
        printf("%-*s  %-32s  %s\n", width, chosen->name, sizes, entry ? entry->flags : "");
        if (others[0])
            printf("%-*s  accepted too: %s\n", width, "", others);
        if (entry && entry->catches[0])
            printf("%-*s  catches: %s\n", width, "", entry->catches);
        if (about[0])
            printf("%-*s  %s\n", width, "", about);
        if (entry)
            printf("%-*s  since corpus %s\n", width, "", entry->since);
    }
    free(about);
    vector_free(&v);
    return 0;
}

int command_list(int argc, char **argv)
{
    const char *dir = NULL, *corpus = NULL, *since = NULL, *wrong;
    int names = 0, words, status, width = 0;
    const struct option options[] = {
        { "--vectors", &dir, NULL }, { "--corpus", &corpus, NULL }, { "--since", &since, NULL }, { "--names", NULL, &names }, { NULL, NULL, NULL },
    };
    struct wanted w;

    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if ((status = wanted_open(&w, dir, corpus, words, argv)))
        return status;
    if (since && (wrong = corpus_check_version(&w.corpus, since)))
        status = complain("--since", "%s", wrong);
    for (size_t k = 0; k < w.choice.count; k++) {
        int length = (int)strlen(w.choice.chosen[k].name);
        width = length > width ? length : width;
    }
    for (size_t k = 0; k < w.choice.count && !status; k++) {
        const struct chosen *one = &w.choice.chosen[k];
        if (since && !(one->vector && !strcmp(one->vector->since, since)))
            continue;
        if (names)
            puts(one->name);
        else
            status = list_one(one, width, terminal(0));
    }
    wanted_close(&w);
    return status;
}
