/* SPDX-License-Identifier: MIT */
/*
 * Attention as an ONNX graph: the recipe of mha.c with one operator a step.
 *
 * Values have the names of the recipe's stages. Parameters are initializers,
 * arguments are inputs, both in float32 as a vector file stores them.
 */
#ifndef QKVEC_ONNX_LAYER_H
#define QKVEC_ONNX_LAYER_H

#include "../recipe/mha.h"
#include "../store/npz.h"
#include "model.h"

/* What a graph is made from: a vector's file and configuration, and one answer. */
struct onnx_case {
    const struct npz *file;        /* query, in_proj_weight, ... as stored, <f4 and |b1 */
    const struct mha_in *in;
    const struct array *stage;     /* [STAGES], in float64 */
    const struct array *sigma;     /* [STAGES]: how far rounding may move each element */
    double sigmas, floor;          /* an element passes within sigmas * sigma + floor */
};

/* Three kinds of graph. A failure shows in onnx_finish(). */

/* Arguments -> output (N,L,E), attn_weights (N,H,L,Sx). */
void onnx_layer(struct onnx_model *m, const struct onnx_case *c);

/* The same with the judge behind it: output_conforms and attn_weights_conforms,
 * bool, expected true everywhere: the element lies within sigmas * sigma + floor
 * of the golden number, or is NaN or infinite where that is. */
void onnx_judged_layer(struct onnx_model *m, const struct onnx_case *c);

/* Q, K, V (N,H,L,D) (N,H,Sx,D) twice[, attn_mask] -> Y (N,H,L,D), weights
 * (N,H,L,Sx), by the standard operator Attention of opset 23. stage is the answer
 * of a core whose closed rows are zero, as that operator's are. */
void onnx_core(struct onnx_model *m, const struct onnx_case *c);

enum { ONNX_LAYER_OPSET = 17, ONNX_LAYER_IR = 8, ONNX_CORE_OPSET = 23, ONNX_CORE_IR = 10 };

#endif
