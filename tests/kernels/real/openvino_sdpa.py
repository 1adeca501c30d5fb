# SPDX-License-Identifier: MIT
"""OpenVINO's scaled_dot_product_attention between MatMuls, in one model, on the CPU plugin: "default" settings, or the
inference precision named ("f32", "bf16", "f16"). The mask is bool (true: seen) where it can be, else float."""
import sys
import numpy as np
import openvino as ov
from openvino import opset13 as op
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "default"
core = ov.Core()
settings = {} if PATH == "default" else {"INFERENCE_PRECISION_HINT": PATH}


def attention(case):
    case.lacks("bias_kv", "zero_attn", dtypes=(case.dtype,))
    if (PATH, case.dtype) not in (("default", "float32"), ("f32", "float32"), ("bf16", "bfloat16"), ("f16", "float16"), ("default", "bfloat16")):
        raise pipe.Skip(f"no {case.dtype} in this row")
    arrays = []

    def given(x):
        x = x if x.dtype == bool else x.astype(np.float32)
        arrays.append((op.parameter(list(x.shape), np.bool_ if x.dtype == bool else np.float32), x))
        return arrays[-1][0]

    def linear(x, w, b):
        y = op.matmul(x, given(w), False, True)
        return y if b is None else op.add(y, given(b))

    split = lambda x: op.transpose(op.reshape(x, op.constant(np.array([0, 0, case.H, case.D])), True), op.constant(np.array([0, 2, 1, 3])))
    q, k, v = (split(linear(given(x), w, b)) for x, w, b in zip((case.query, case.key, case.value), case.weight, case.bias))
    mask = case.keep(True) if all(m.dtype == bool for m in case.masks) else case.added(True)
    o = op.scaled_dot_product_attention(*[q, k, v] + ([] if mask is None else [given(mask)]))
    o = op.reshape(op.transpose(o, op.constant(np.array([0, 2, 1, 3]))), op.constant(np.array([0, 0, case.E])), True)
    model = core.compile_model(ov.Model([linear(o, case.out_weight, case.out_bias)], [p for p, _ in arrays]), "CPU", settings)
    return {"output": model([x for _, x in arrays])[0].astype(np.float32)}


pipe.serve(attention, {"OpenVINO": ov.__version__.split("-")[0]})
