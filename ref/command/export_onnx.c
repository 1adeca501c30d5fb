/* SPDX-License-Identifier: MIT */
/*
 * DIR/<kind>/test_qkvec_<kind>_<name>/: model.onnx, test_data_set_0/{input,output}_<i>.pb,
 * data.json (read by onnx.backend.test.loader) and config.txt (read by
 * onnx_test_runner), for three kinds of graph.
 */
#define _POSIX_C_SOURCE 200809L

#include "export_onnx.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../judge/expected.h"
#include "../onnx/layer.h"
#include "../store/file.h"
#include "command.h"

/* The runners know one tolerance for a whole model: |got - golden| <= ATOL + RTOL * |golden|.
 * These are ONNX's own for its Attention tests. */
#define RTOL 1e-3
#define ATOL 1e-7

static const struct kind {
    const char *name;
    enum scope scope;
    unsigned opset, ir_version;
    void (*make)(struct onnx_model *m, const struct onnx_case *c);
} kinds[] = {
    { "layer", SCOPE_LAYER, ONNX_LAYER_OPSET, ONNX_LAYER_IR, onnx_layer },
    { "judged_layer", SCOPE_LAYER, ONNX_LAYER_OPSET, ONNX_LAYER_IR, onnx_judged_layer },
    { "core", SCOPE_CORE, ONNX_CORE_OPSET, ONNX_CORE_IR, onnx_core },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

enum { PATH = 4096 };

static int make_directory(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : complain(path, "cannot be made: %s", strerror(errno));
}

/* folder/file holds these bytes. Returns the exit status. */
static int put_file(const char *folder, const char *file, const void *bytes, size_t length)
{
    char path[PATH + 64], error[SENTENCE];
    struct file_out out;
    const char *wrong;

    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!(wrong = file_create(&out, path, error))) {
        fwrite(bytes, 1, length, out.stream);
        wrong = file_close(&out, 1, error);
    }
    return wrong ? complain(path, "%s", wrong) : 0;
}

static int put_text(const char *folder, const char *file, const char *text)
{
    return put_file(folder, file, text, strlen(text));
}

/* input_0.pb, input_1.pb, ... Returns the exit status. */
static int put_tensors(const char *folder, const char *what, const struct wire *tensor, size_t count)
{
    char file[64];
    int status = 0;

    for (size_t k = 0; k < count && !status; k++) {
        snprintf(file, sizeof file, "test_data_set_0/%s_%zu.pb", what, k);
        status = put_file(folder, file, tensor[k].bytes, tensor[k].length);
    }
    return status;
}

/* atol raised until each element of the stage may be off by what rounding may do. */
static double tolerance(double atol, const struct onnx_case *c, enum mha_stage k)
{
    const struct array *stage = &c->stage[k];

    for (size_t i = 0; i < stage->size; i++) {
        double limit = c->sigmas * (double)c->sigma[k].v[i] + c->floor - RTOL * fabs((double)stage->v[i]);
        if (limit > atol)    /* not so for NaN */
            atol = limit;
    }
    return atol;
}

/* data.json and config.txt, the same for each runner. */
static int put_tolerances(const char *folder, const struct onnx_case *c, enum scope scope)
{
    double atol = tolerance(tolerance(ATOL, c, ATTN_WEIGHTS), c, scope == SCOPE_CORE ? HEAD_OUTPUTS : OUTPUT);
    char text[128];
    int status;

    snprintf(text, sizeof text, "{\"rtol\": %g, \"atol\": %.9g}\n", RTOL, atol);
    if ((status = put_text(folder, "data.json", text)))
        return status;
    snprintf(text, sizeof text, "per_sample_tolerance: %.9g\nrelative_per_sample_tolerance: %g\n", atol, RTOL);
    return put_text(folder, "config.txt", text);
}

/* m is written and used up. */
static int put_folder(const char *folder, struct onnx_model *m, const struct onnx_case *c, const struct kind *kind, const char *about)
{
    struct wire file;
    char data[PATH + 64];
    const char *wrong = onnx_finish(&file, m, about, kind->opset, kind->ir_version);
    int status;

    if (wrong)
        return complain(folder, "%s", wrong);
    snprintf(data, sizeof data, "%s/test_data_set_0", folder);
    status = make_directory(folder);
    if (!status)
        status = make_directory(data);
    if (!status)
        status = put_tensors(folder, "input", m->input, m->inputs);
    if (!status)
        status = put_tensors(folder, "output", m->output, m->outputs);
    if (!status)
        status = put_tolerances(folder, c, kind->scope);
    if (!status)    /* last: a folder with a model is whole */
        status = put_file(folder, "model.onnx", file.bytes, file.length);
    wire_free(&file);
    return status;
}

/* NULL, or why there is no model of that kind. */
static const char *left_out(const struct expected *expected, const struct kind *kind)
{
    const struct array *scores = &expected->answer[0].stage[SCORES];

    if (expected->not_applicable)
        return expected->not_applicable;
    return kind->scope == SCOPE_CORE && !scores->size ? "the operator Attention takes no empty arrays" : NULL;
}

/* The answer of a kind: PyTorch's, but in the standard operator a row without
 * an open key is zero. */
static const struct answer *answer_of(const struct expected *expected, const struct kind *kind)
{
    for (size_t a = 0; kind->scope == SCOPE_CORE && a < expected->answers; a++)
        if (expected->answer[a].policy == &policies[POLICY_ZERO_ROWS])
            return &expected->answer[a];
    return &expected->answer[0];
}

/* "core/answer" -> "core_answer" */
static void flat_name(char *to, size_t room, const char *name)
{
    snprintf(to, room, "%s", name);
    for (; *to; to++)
        if (*to == '/' || *to == '.')
            *to = '_';
}

/* One vector as one kind. *count is raised if it was written. */
static int export_kind(const char *dir, struct vector *v, const char *about, const struct kind *kind, size_t *count)
{
    const struct profile *p = profile_named("float32");
    struct expected expected;
    struct onnx_model *m = calloc(1, sizeof *m);
    char folder[PATH], name[128];
    const char *wrong = m ? expected_make(&expected, v, 0, p, kind->scope) : "not enough memory";
    int status = 0;

    if (wrong) {
        free(m);
        return complain(v->name, "%s", wrong);
    }
    flat_name(name, sizeof name, v->name);
    if ((wrong = left_out(&expected, kind))) {
        fprintf(stderr, "qkvec: %s: left out of %s: %s\n", v->name, kind->name, wrong);
    } else if (snprintf(folder, sizeof folder, "%s/%s/test_qkvec_%s_%s", dir, kind->name, kind->name, name) >= (int)sizeof folder) {
        status = complain(dir, "the path is too long");
    } else {
        const struct answer *answer = answer_of(&expected, kind);
        const struct onnx_case c = { &v->file, &v->in, answer->stage, answer->sigma, ENVELOPE_SIGMAS, p->floor };
        kind->make(m, &c);
        status = put_folder(folder, m, &c, kind, about);
        *count += !status;
    }
    onnx_free(m);
    free(m);
    expected_free(&expected);
    return status;
}

static int export_vector(const char *dir, const struct chosen *chosen, size_t count[KINDS])
{
    struct vector v;
    const char *wrong = vector_read_chosen(&v, chosen);
    int status = 0;

    if (wrong)
        return complain(chosen->path, "%s", wrong);
    char *about = vector_text(&v, "about");
    if (!about)
        status = complain(v.name, "not enough memory");
    for (size_t k = 0; k < KINDS && !status; k++)
        status = export_kind(dir, &v, about, &kinds[k], &count[k]);
    free(about);
    vector_free(&v);
    return status;
}

int export_onnx(const char *dir, const char *vectors, int words, char **word)
{
    struct wanted w;
    size_t count[KINDS] = { 0 };
    int status = wanted_open(&w, vectors, NULL, words, word);

    if (status)
        return status;
    status = make_directory(dir);
    for (size_t k = 0; k < KINDS && !status; k++) {
        char path[PATH];
        snprintf(path, sizeof path, "%s/%s", dir, kinds[k].name);
        status = make_directory(path);
    }
    for (size_t i = 0; i < w.choice.count && !status; i++) {
        if (terminal(1))
            fprintf(stderr, "\r%zu of %zu", i + 1, w.choice.count);
        status = export_vector(dir, &w.choice.chosen[i], count);
    }
    if (terminal(1))
        fputc('\n', stderr);
    for (size_t k = 0; k < KINDS && !status; k++)
        printf("%s/%s: %zu models\n", dir, kinds[k].name, count[k]);
    wanted_close(&w);
    return status;
}
