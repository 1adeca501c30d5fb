/* SPDX-License-Identifier: MIT */
/* Letters: d dimension, k name or number. The enums are field numbers of onnx.proto. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>

enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_ABOUT = 10, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OPERATOR = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INTEGER = 3, ATTRIBUTE_INTEGERS = 8, ATTRIBUTE_TYPE = 20 };
enum { TYPE_INTEGER = 2, TYPE_INTEGERS = 7 };    /* AttributeProto.AttributeType */
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_DATA = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2, SHAPE_DIM = 1, DIM_VALUE = 1 };

/* TensorProto */
static struct wire tensor(const struct onnx_array *a)
{
    size_t width = a->type == ONNX_BOOL ? 1 : a->type == ONNX_FLOAT ? 4 : 8, count = 1;
    struct wire w = { 0 };

    for (int d = 0; d < a->ndim; d++) {
        wire_integer(&w, TENSOR_DIM, a->shape[d]);
        count *= a->shape[d];    /* the numbers are in memory, so this fits */
    }
    wire_integer(&w, TENSOR_TYPE, a->type);
    wire_text(&w, TENSOR_NAME, a->name);
    wire_numbers(&w, TENSOR_DATA, a->data, width, count);
    return w;
}

/* ValueInfoProto: name, type and shape of an input or output. */
static struct wire value_info(const struct onnx_array *a)
{
    struct wire shape = { 0 }, element = { 0 }, type = { 0 }, w = { 0 };

    for (int d = 0; d < a->ndim; d++) {
        struct wire dim = { 0 };
        wire_integer(&dim, DIM_VALUE, a->shape[d]);
        wire_message(&shape, SHAPE_DIM, &dim);
    }
    wire_integer(&element, TENSOR_ELEMENT, a->type);
    wire_message(&element, TENSOR_SHAPE, &shape);
    wire_message(&type, TYPE_TENSOR, &element);
    wire_text(&w, VALUE_NAME, a->name);
    wire_message(&w, VALUE_TYPE, &type);
    return w;
}

/* A name that no other value has. */
static const char *new_name(struct onnx_model *m)
{
    if (m->names == ONNX_NAMES) {
        m->failed = 1;
        return "";
    }
    snprintf(m->name[m->names], sizeof m->name[0], "value_%zu", m->names);
    return m->name[m->names++];
}

const char *onnx_initializer(struct onnx_model *m, const struct onnx_array *a)
{
    struct onnx_array named = *a;
    struct wire w;

    if (!named.name)
        named.name = new_name(m);
    w = tensor(&named);
    wire_message(&m->graph, GRAPH_INITIALIZER, &w);
    return named.name;
}

static void add_value(struct onnx_model *m, struct wire file[ONNX_VALUES], size_t *count, unsigned field, const struct onnx_array *a)
{
    struct wire w = value_info(a);

    wire_message(&m->graph, field, &w);
    if (*count == ONNX_VALUES)
        m->failed = 1;
    else
        file[(*count)++] = tensor(a);
}

const char *onnx_input(struct onnx_model *m, const struct onnx_array *a)
{
    add_value(m, m->input, &m->inputs, GRAPH_INPUT, a);
    return a->name;
}

const char *onnx_output(struct onnx_model *m, const struct onnx_array *a)
{
    add_value(m, m->output, &m->outputs, GRAPH_OUTPUT, a);
    return a->name;
}

void onnx_integer(struct onnx_model *m, const char *attribute, int64_t value)
{
    struct wire w = { 0 };

    wire_text(&w, ATTRIBUTE_NAME, attribute);
    wire_integer(&w, ATTRIBUTE_INTEGER, (uint64_t)value);
    wire_integer(&w, ATTRIBUTE_TYPE, TYPE_INTEGER);
    wire_message(&m->attribute, NODE_ATTRIBUTE, &w);
}

void onnx_integers(struct onnx_model *m, const char *attribute, size_t count, const int64_t *value)
{
    struct wire w = { 0 };

    wire_text(&w, ATTRIBUTE_NAME, attribute);
    for (size_t k = 0; k < count; k++)
        wire_integer(&w, ATTRIBUTE_INTEGERS, (uint64_t)value[k]);
    wire_integer(&w, ATTRIBUTE_TYPE, TYPE_INTEGERS);
    wire_message(&m->attribute, NODE_ATTRIBUTE, &w);
}

void onnx_node_of(struct onnx_model *m, const char *operator, const char *const *out, const char *const *in)
{
    struct wire node = { 0 };

    for (size_t k = 0; in[k]; k++)
        wire_text(&node, NODE_INPUT, in[k]);
    for (size_t k = 0; out[k]; k++)
        wire_text(&node, NODE_OUTPUT, out[k]);
    wire_text(&node, NODE_OPERATOR, operator);
    wire_join(&node, &m->attribute);
    wire_message(&m->graph, GRAPH_NODE, &node);
}

const char *onnx_node(struct onnx_model *m, const char *out, const char *operator, ...)
{
    const char *in[ONNX_VALUES + 1] = { NULL };
    const char *const outs[] = { out ? out : new_name(m), NULL };
    va_list arguments;

    va_start(arguments, operator);
    for (size_t k = 0; k < ONNX_VALUES && (in[k] = va_arg(arguments, const char *)); k++)
        ;
    va_end(arguments);
    onnx_node_of(m, operator, outs, in);
    return outs[0];
}

const char *onnx_finish(struct wire *file, struct onnx_model *m, const char *about, unsigned opset, unsigned ir_version)
{
    struct wire set = { 0 };

    *file = (struct wire){ 0 };
    wire_text(&m->graph, GRAPH_NAME, "qkvec");
    wire_text(&m->graph, GRAPH_ABOUT, about);
    wire_text(&set, OPSET_DOMAIN, "");
    wire_integer(&set, OPSET_VERSION, opset);
    wire_integer(file, MODEL_IR_VERSION, ir_version);
    wire_text(file, MODEL_PRODUCER, "qkvec");
    wire_message(file, MODEL_GRAPH, &m->graph);
    wire_message(file, MODEL_OPSET, &set);
    for (size_t k = 0; k < m->inputs; k++)
        m->failed = m->failed || m->input[k].failed;
    for (size_t k = 0; k < m->outputs; k++)
        m->failed = m->failed || m->output[k].failed;
    if (!file->failed && !m->failed)
        return NULL;
    wire_free(file);
    return "not enough memory for the model";
}

void onnx_free(struct onnx_model *m)
{
    wire_free(&m->graph);
    wire_free(&m->attribute);
    for (size_t k = 0; k < m->inputs; k++)
        wire_free(&m->input[k]);
    for (size_t k = 0; k < m->outputs; k++)
        wire_free(&m->output[k]);
    *m = (struct onnx_model){ 0 };
}
