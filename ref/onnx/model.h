/* SPDX-License-Identifier: MIT */
/*
 * An ONNX model, being written: nodes, initializers, inputs and outputs, each
 * with its numbers. The numbers of an input or output do not go into the model
 * but into a tensor file beside it.
 * Source: onnx/onnx.proto (field numbers), onnx/docs/IR.md.
 */
#ifndef QKVEC_MODEL_H
#define QKVEC_MODEL_H

#include "wire.h"

enum onnx_type { ONNX_FLOAT = 1, ONNX_INT64 = 7, ONNX_BOOL = 9, ONNX_DOUBLE = 11 };    /* TensorProto.DataType */

enum { ONNX_DIMS = 4, ONNX_VALUES = 8, ONNX_NAMES = 128 };

/* Numbers in C order; data holds as many of type as the shape says. */
struct onnx_array {
    const char *name;
    enum onnx_type type;
    int ndim;                     /* 0 for a scalar */
    size_t shape[ONNX_DIMS];
    const void *data;
};

struct onnx_model {
    struct wire graph;                                   /* GraphProto, up to its inputs and outputs */
    struct wire input[ONNX_VALUES], output[ONNX_VALUES]; /* TensorProto files, in the graph's order */
    size_t inputs, outputs;
    struct wire attribute;                               /* of the node to come */
    char name[ONNX_NAMES][16];                           /* of values that were given none */
    size_t names;
    int failed;                                          /* out of memory, or more values or names than there is room for */
};

/* Numbers that belong to the model (a->name NULL: a name is made). Return the name. */
const char *onnx_initializer(struct onnx_model *m, const struct onnx_array *a);

/* Numbers that belong to a test of it. Return the name. */
const char *onnx_input(struct onnx_model *m, const struct onnx_array *a);
const char *onnx_output(struct onnx_model *m, const struct onnx_array *a);

/* Attributes of the node that comes next. */
void onnx_integer(struct onnx_model *m, const char *attribute, int64_t value);
void onnx_integers(struct onnx_model *m, const char *attribute, size_t count, const int64_t *value);

/* Append "out = operator(in...)"; the inputs end with NULL. out NULL: a name is
 * made. Returns the output's name. */
const char *onnx_node(struct onnx_model *m, const char *out, const char *operator, ...);

/* The same with several outputs; both lists end with NULL, and "" leaves an optional one out. */
void onnx_node_of(struct onnx_model *m, const char *operator, const char *const *out, const char *const *in);

/* The whole ModelProto into file; m is used up but for its tensors. NULL, or an error message. */
const char *onnx_finish(struct wire *file, struct onnx_model *m, const char *about, unsigned opset, unsigned ir_version);

void onnx_free(struct onnx_model *m);

#endif
