/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../judge/expected.h"
#include "../store/file.h"
#include "command.h"
#include "export_onnx.h"
#include "numbers.h"

static const char help[] =
    "usage: qkvec export --c-header [OPTION...] VECTOR\n"
    "       qkvec export --onnx DIR [OPTION...] [PATTERN...]\n\n"
    "A vector as a C header that needs nothing but <math.h>: arguments and parameters\n"
    "(float), every stage and its sigma (double), sizes as macros, and how to compare.\n"
    "Or vectors (default: all) as ONNX models with test data, in three kinds: the layer,\n"
    "the layer with the judge inside (its outputs must all be true), and the core as\n"
    "the standard operator Attention.\n\n"
    "  --c-header       a C header\n"
    "  --onnx DIR       DIR/<kind>/test_qkvec_<kind>_<name>/model.onnx, in float32\n"
    "  -o FILE.h        write the header there; else to standard output\n"
    "  --profile P      numbers and sigma for float64, float32, tf32, float16 or bfloat16\n"
    "                   (default float32)\n"
    "  --vectors DIR    where the vectors are\n\n"
    "  qkvec export --c-header core/answer > answer.h\n"
    "  qkvec export --c-header --profile float16 -o answer.h core/answer\n"
    "  qkvec export --onnx models 'mask/*'\n";

/* "core/answer" and "out_proj.weight" as parts of C names; upper for macros. The
 * member comes first, with _of_ between: vector_member would give scores of
 * softmax/negative_masked and masked_scores of softmax/negative one name. */
#define IDENTIFIER 256
static const char *identifier(char text[IDENTIFIER], const char *name, int upper)
{
    size_t k;

    for (k = 0; name[k] && k + 1 < IDENTIFIER; k++) {
        unsigned char c = (unsigned char)name[k];
        text[k] = (char)(c >= 0x80 || !isalnum(c) ? '_' : upper ? toupper(c) : c);
    }
    text[k] = 0;
    return text;
}

/* "core/answer" is enough of a path. */
static const char *last_parts(const char *name)
{
    const char *last = strrchr(name, '/'), *from = last;

    while (from && from > name && from[-1] != '/')
        from--;
    return last ? from : name;
}

static void put_number(FILE *f, const struct npz_array *a, size_t i, const struct profile *p)
{
    struct npz_array one = *a;
    double x = npz_value(a, i);
    float single;
    char text[NUMBER];

    if (a->type == NPZ_F4) {    /* the numbers that a kernel of this profile is given */
        x = profile_round(p, x);
        single = (float)x;
        one.data = &single;
        i = 0;
    }
    if (isnan(x))
        fputs("NAN", f);
    else if (isinf(x))
        fputs(x < 0 ? "-INFINITY" : "INFINITY", f);
    else {
        number_text(text, &one, i, 0);
        if (a->type == NPZ_F4 || a->type == NPZ_F8)
            fprintf(f, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", a->type == NPZ_F4 ? "f" : "");
        else
            fputs(text, f);
    }
}

static void put_array(FILE *f, const struct npz_array *a, const char *vector, const struct profile *p)
{
    const char *type = a->type == NPZ_F4 ? "float" : a->type == NPZ_F8 ? "double" : "unsigned char";
    char name[IDENTIFIER], shape[128];

    /* C knows no empty array: one number that nobody reads. */
    fprintf(f, "\n/* %s */\nstatic const %s qkvec_%s_of_%s[%zu] = {", npz_shape_text(shape, a), type,
            identifier(name, a->name, 0), vector, a->size ? a->size : 1);
    for (size_t i = 0; i < a->size; i++) {
        fputs(i % 8 ? " " : "\n    ", f);
        put_number(f, a, i, p);
        fputs(",", f);
    }
    fputs(a->size ? "\n};\n" : " 0 };\n", f);
}

static void put_sizes(FILE *f, const struct vector *v, const char *macro, const struct profile *p)
{
    const struct mha_in *in = &v->in;
    size_t Sx = in->S + (in->bias_k != NULL) + (in->add_zero_attn != 0);
    const struct { const char *name; size_t value; } sizes[] = {
        { "N", in->N }, { "L", in->L }, { "S", in->S }, { "SX", Sx }, { "E", in->E }, { "EK", in->Ek }, { "EV", in->Ev },
        { "H", in->H }, { "D", in->E / in->H }, { "BATCHED", (size_t)in->batched }, { "BATCH_FIRST", (size_t)in->batch_first },
        { "ADD_ZERO_ATTN", (size_t)in->add_zero_attn }, { "IS_CAUSAL", (size_t)v->is_causal },
    };

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        fprintf(f, "#define QKVEC_%s_OF_%s %zu\n", sizes[k].name, macro, sizes[k].value);
    fprintf(f, "#define QKVEC_SIGMAS_OF_%s %g\n", macro, ENVELOPE_SIGMAS);
    fprintf(f, "#define QKVEC_FLOOR_OF_%s %.17g\n", macro, p->floor);
}

static void put_intro(FILE *f, const struct vector *v, const char *vector, const char *macro, const char *about,
                      const struct profile *p)
{
    fputs("/* ", f);
    for (const char *c = v->name; *c; c++)
        putc(*c == '*' || (unsigned char)*c < 0x20 ? '_' : *c, f);
    fputs(": ", f);
    for (const char *c = about; *c; c++)    /* prose must not end the comment */
        fputs(*c == '*' && c[1] == '/' ? "* " : *c == '\n' ? "\n * " : (char[]){ *c, 0 }, f);
    fprintf(f, "\n *\n"
            " * Made by qkvec export. Arguments and parameters have PyTorch's names and layouts; stages are\n"
            " * (N,L,E) or (N,H,L,S) whatever the layout of the arguments. sigma is the standard deviation\n"
            " * that rounding may have under %s. A result is right when for every m\n"
            " *\n"
            " *     isnan(golden[m]) ? isnan(got[m])\n"
            " *     : isinf(golden[m]) ? got[m] == golden[m]\n"
            " *     : fabs(got[m] - golden[m]) <= QKVEC_SIGMAS_OF_%s * sigma[m] + QKVEC_FLOOR_OF_%s\n"
            " *\n"
            " * with golden and sigma as in qkvec_output_of_%s and\n"
            " * qkvec_sigma_output_of_%s. Where there are arrays whose names\n"
            " * begin with qkvec_alt_<policy>, matching all of these is right as well.\n */\n",
            p->name, macro, macro, vector, vector);
}

/* The stages and sigma of every answer, as arrays under the names that a vector file uses. */
static const char *put_answers(struct npz *z, const struct expected *expected)
{
    const char *wrong = NULL;

    for (size_t a = 0; a < expected->answers && !wrong; a++) {
        struct array stage[STAGES], sigma[STAGES];
        char prefix[NPZ_NAME];
        if (!expected->answer[a].policy)    /* of two policies */
            continue;
        memcpy(stage, expected->answer[a].stage, sizeof stage);
        memcpy(sigma, expected->answer[a].sigma, sizeof sigma);
        for (int k = 0; a > 0 && k < POLICY_FIRST_STAGE; k++)    /* the same as the main answer's */
            stage[k].v = sigma[k].v = NULL;
        prefix[0] = 0;
        if (a)
            snprintf(prefix, sizeof prefix, "alt.%.40s.", expected->answer[a].policy->name);
        if (!(wrong = vector_put_stages(z, prefix, stage))) {
            strcat(prefix, "sigma.");
            wrong = vector_put_stages(z, prefix, sigma);
        }
    }
    return wrong;
}

static void put_header(FILE *f, const struct vector *v, const struct npz *answers, const char *about, const struct profile *p)
{
    char vector[IDENTIFIER], macro[IDENTIFIER];

    identifier(vector, last_parts(v->name), 0);
    identifier(macro, last_parts(v->name), 1);
    put_intro(f, v, vector, macro, about, p);
    fprintf(f, "#ifndef QKVEC_HEADER_OF_%s\n#define QKVEC_HEADER_OF_%s\n\n#include <math.h>\n\n", macro, macro);
    put_sizes(f, v, macro, p);
    for (size_t k = 0; k < v->file.count; k++) {    /* arguments and parameters: neither prose, nor numbers of ours */
        const struct npz_array *a = &v->file.arrays[k];
        if (a->ndim > 0 && (a->type == NPZ_F4 || a->type == NPZ_B1))
            put_array(f, a, vector, p);
    }
    for (size_t k = 0; k < answers->count; k++)
        put_array(f, &answers->arrays[k], vector, p);
    fputs("\n#endif\n", f);
}

static int export(struct vector *v, const char *out, const struct profile *p)
{
    struct expected expected;
    struct npz answers = { 0 };
    struct file_out file;
    char error[SENTENCE], *about = vector_text(v, "about");
    const char *wrong = about ? expected_make(&expected, v, expected_round(v, p), p, SCOPE_LAYER) : "not enough memory";
    int status = 0;

    if (wrong) {
        free(about);
        return complain(v->name, "%s", wrong);
    }
    if (expected.not_applicable)
        status = complain(v->name, "not applicable to %s: %s", p->name, expected.not_applicable);
    else if ((wrong = put_answers(&answers, &expected)))
        status = complain(v->name, "%s", wrong);
    else if (!out)
        put_header(stdout, v, &answers, about, p);
    else if ((wrong = file_create(&file, out, error)))
        status = complain(out, "%s", wrong);
    else {
        put_header(file.stream, v, &answers, about, p);
        if ((wrong = file_close(&file, 1, error)))
            status = complain(out, "%s", wrong);
    }
    npz_free(&answers);
    expected_free(&expected);
    free(about);
    return status;
}

int command_export(int argc, char **argv)
{
    const char *dir = NULL, *out = NULL, *onnx = NULL, *profile = "float32";
    int c_header = 0, words, status;
    const struct option options[] = {
        { "--vectors", &dir, NULL }, { "-o", &out, NULL }, { "--profile", &profile, NULL },
        { "--c-header", NULL, &c_header }, { "--onnx", &onnx, NULL }, { NULL, NULL, NULL },
    };
    struct vector v;

    if (options_read(&words, &status, argc, argv, options, help))
        return status;
    if (onnx && (c_header || out))
        return complain("--onnx", "goes neither with --c-header nor with -o");
    if (onnx && strcmp(profile, "float32") != 0)
        return complain("--onnx", "the models are in float32; found --profile %s", profile);
    if (onnx)
        return export_onnx(onnx, dir, words, argv);
    if (words != 1)
        return complain("export", "name one vector; see qkvec export --help");
    if (!c_header)
        return complain("export", "name the format: --c-header or --onnx DIR");
    if (!profile_named(profile))
        return complain(profile, "no such profile; wanted float64, float32, tf32, float16 or bfloat16");
    if ((status = wanted_one(&v, dir, argv[0])))
        return status;
    status = export(&v, out, profile_named(profile));
    vector_free(&v);
    return status;
}
