/* SPDX-License-Identifier: MIT */
/*
 * DIR/<kind>/test_qkvec_<kind>_<name>/: model.onnx, test_data_set_0/{input,output}_<i>.pb,
 * data.json (read by onnx.backend.test.loader) and config.txt (read by
 * onnx_test_runner), for three kinds of graph.
 */
#define _POSIX_C_SOURCE 200809L

#include "export_onnx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../judge/truth.h"
#include "../onnx/layer.h"
#include "../store/file.h"
#include "command.h"

/* The tolerances of the runners; ONNX's own for its Attention tests. The judge
 * inside a model needs none. */
#define RTOL "1e-3"
#define ATOL "1e-7"

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

static int put_folder(const char *folder, struct onnx_model *m, const struct kind *kind, const char *about)
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
        status = put_text(folder, "data.json", "{\"rtol\": " RTOL ", \"atol\": " ATOL "}\n");
    if (!status)
        status = put_text(folder, "config.txt", "per_sample_tolerance: " ATOL "\nrelative_per_sample_tolerance: " RTOL "\n");
    if (!status)    /* last: a folder with a model is whole */
        status = put_file(folder, "model.onnx", file.bytes, file.length);
    wire_free(&file);
    return status;
}

/* The answer of a kind: PyTorch's, but in the standard operator a row without
 * an open key is zero. */
static const struct answer *answer_of(const struct truth *truth, const struct kind *kind)
{
    for (size_t a = 0; kind->scope == SCOPE_CORE && a < truth->answers; a++)
        if (truth->answer[a].policy == &policies[POLICY_ZERO_ROWS])
            return &truth->answer[a];
    return &truth->answer[0];
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
    struct truth truth;
    struct onnx_model *m = calloc(1, sizeof *m);
    char folder[PATH], name[128];
    const char *wrong = m ? truth_make(&truth, v, 0, p, kind->scope) : "not enough memory";
    int status = 0;

    if (wrong) {
        free(m);
        return complain(v->name, "%s", wrong);
    }
    flat_name(name, sizeof name, v->name);
    if (truth.not_applicable) {
        fprintf(stderr, "qkvec: %s: left out of %s: %s\n", v->name, kind->name, truth.not_applicable);
    } else if (snprintf(folder, sizeof folder, "%s/%s/test_qkvec_%s_%s", dir, kind->name, kind->name, name) >= (int)sizeof folder) {
        status = complain(dir, "the path is too long");
    } else {
        const struct answer *answer = answer_of(&truth, kind);
        kind->make(m, &(struct onnx_case){ &v->file, &v->in, answer->stage, answer->sigma, ENVELOPE_SIGMAS, p->floor });
        status = put_folder(folder, m, kind, about);
        *count += !status;
    }
    onnx_free(m);
    free(m);
    truth_free(&truth);
    return status;
}

static int export_vector(const char *dir, const struct chosen *chosen, size_t count[KINDS])
{
    struct vector v;
    const char *wrong = vector_read(&v, chosen->path, chosen->name);
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
