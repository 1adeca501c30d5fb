/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "../envelope/profile.h"
#include "../recipe/policy.h"
#include "command.h"
#include "numbers.h"

static const char help[] =
    "usage: qkvec run [OPTION...] VECTOR\n\n"
    "Compute every stage of a vector in double precision; print them, or write them\n"
    "as a file that check --results takes.\n\n"
    "  -o OUT.npz       write the stages there\n"
    "  --policy P       answer by this policy, as mean_rows or zero_rows (default pytorch);\n"
    "                   scores_overflow is that of float16; docs/policies.md describes them\n"
    "  --exact          hexadecimal floating point, as in C\n"
    "  --vectors DIR    where the vectors are\n\n"
    "  qkvec run core/answer\n"
    "  mkdir -p out/core && qkvec run -o out/core/answer.npz core/answer\n"
    "  qkvec run mine.npz\n";

static int interpret(struct npz *z, const struct vector *v, const struct policy *policy)
{
    struct array t[STAGES];
    const char *wrong = mha_alloc(t, &v->in);

    if (wrong)
        return complain(v->name, "%s", wrong);
    policy_forward(t, &v->in, (int)(policy - policies), profiles[PROFILE_FLOAT16].largest);
    wrong = vector_put_stages(z, "", t);
    mha_free(t);
    return wrong ? complain(v->name, "%s", wrong) : 0;
}

int command_run(int argc, char **argv)
{
    const char *dir = NULL, *out = NULL, *policy = "pytorch", *wrong;
    char known[POLICY_LIST];
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
        return complain(policy, "no such policy; wanted pytorch, %s", policy_names(known));
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
