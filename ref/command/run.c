/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "../recipe/policy.h"
#include "command.h"
#include "numbers.h"

static const char help[] =
    "usage: qkvec run [OPTION...] VECTOR\n\n"
    "Interpret a vector: every stage of the recipe in double precision, printed, or\n"
    "written as a file that check --results takes.\n\n"
    "  -o OUT.npz       write the stages there\n"
    "  --policy P       another answer where several are legitimate: zero_rows,\n"
    "                   masked_ignored (default pytorch)\n"
    "  --exact          hexadecimal floating point, as in C\n"
    "  --vectors DIR    where the vectors are\n\n"
    "  qkvec run core/answer\n"
    "  mkdir -p out/core && qkvec run -o out/core/answer.npz core/answer\n"
    "  qkvec run mine.npz\n";

static const struct policy *policy_named(const char *name)
{
    for (int k = 0; k < POLICIES; k++)
        if (!strcmp(policies[k].name, name))
            return &policies[k];
    return NULL;
}

static int interpret(struct npz *z, const struct vector *v, const struct policy *policy)
{
    struct array t[STAGES];
    const char *wrong = mha_alloc(t, &v->in);

    if (wrong)
        return complain(v->name, "%s", wrong);
    policy_forward(t, &v->in, policy);
    wrong = vector_put_stages(z, "", t);
    mha_free(t);
    return wrong ? complain(v->name, "%s", wrong) : 0;
}

int command_run(int argc, char **argv)
{
    const char *dir = NULL, *out = NULL, *policy = "pytorch", *wrong;
    int exact = 0, words, status;
    const struct option options[] = {
        { "--vectors", &dir, NULL }, { "--policy", &policy, NULL }, { "-o", &out, NULL },
        { "--exact", NULL, &exact }, { NULL, NULL, NULL },
    };
    struct vector v;
    struct npz z = { 0 };

    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (words != 1)
        return complain("run", "name one vector; see qkvec run --help");
    if (!policy_named(policy))
        return complain(policy, "no such policy; wanted pytorch, zero_rows or masked_ignored");
    if ((status = wanted_one(&v, dir, argv[0])))
        return status;
    status = interpret(&z, &v, policy_named(policy));
    if (!status && out) {
        if ((wrong = npz_write(&z, out)))
            status = complain(out, "%s", wrong);
    } else if (!status) {
        for (size_t k = 0; k < z.count; k++)
            print_array(stdout, &z.arrays[k], exact);
    }
    npz_free(&z);
    vector_free(&v);
    return status;
}
