# SPDX-License-Identifier: MIT
"""ONNX models of one layer, run by ONNX Runtime or by onnx's reference evaluator ("reference_..."). Paths:
"attention": the standard Attention operator, its mask bool where it can be, else float; "matmul": the layer in MatMul, Add,
Softmax; "contrib_mha": com.microsoft.MultiHeadAttention; "contrib_attention": com.microsoft.Attention, packed weights."""
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "attention"
VERSION = 24 if PATH.endswith("24") else 23
versions = {"onnx": onnx.__version__}
if PATH.startswith("reference"):
    from onnx.reference import ReferenceEvaluator
else:
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    versions["ONNX Runtime"] = onnxruntime.__version__


def run(case, nodes, inputs, names):
    kind = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE}[case.dtype]
    inputs = {n: x for n, x in inputs.items() if x is not None}
    types = {n: {np.dtype(bool): TensorProto.BOOL, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64}.get(x.dtype, kind) for n, x in inputs.items()}
    graph = helper.make_graph(nodes, "layer", [helper.make_tensor_value_info(n, types[n], x.shape) for n, x in inputs.items()],
                              [helper.make_tensor_value_info(n, kind, None) for n in names])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", VERSION), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    if PATH.startswith("reference"):
        return ReferenceEvaluator(model).run(names, inputs)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(names, inputs)


def attention(case):
    features = ["bias_kv", "zero_attn"] + {"contrib_attention": ["query, key and value of different arrays", "separate kdim or vdim"]}.get(PATH, [])
    case.lacks(*features, dtypes=("float32",) if PATH.startswith("contrib") else ("float32", "float16", "float64") if "reference" in PATH else ("float32", "float16"))
    node, T = helper.make_node, lambda x: None if x is None else np.ascontiguousarray(x.T)
    inputs = {"query": case.query, "key": case.key, "value": case.value, "wo": T(case.out_weight), "bo": case.out_bias}
    nodes = []

    def linear(x, w, b, y):
        nodes.append(node("MatMul", [x, w], [y if inputs.get(b) is None else y + "_"]))
        if inputs.get(b) is not None:
            nodes.append(node("Add", [y + "_", b], [y]))

    if PATH != "contrib_attention":
        for i, (x, name) in enumerate(zip("qkv", ("query", "key", "value"))):
            inputs["w" + x], inputs["b" + x] = T(case.weight[i]), case.bias[i]
    heads = {"num_heads": case.H}
    if PATH.startswith("contrib"):
        bias = None if case.bias[0] is None else np.concatenate(case.bias)
        inputs.update(bias=bias, mask=case.added())
        if inputs["mask"] is not None:                                          # broadcast over N and H, but not over L
            m = inputs["mask"]
            inputs["mask"] = np.ascontiguousarray(np.broadcast_to(m, m.shape[:2] + (case.L, case.S)))
        mask, given = "mask" if inputs["mask"] is not None else "", "bias" if bias is not None else ""
        if PATH == "contrib_attention":
            inputs.update(key=None, value=None, w=T(np.concatenate(case.weight)))
            nodes.append(node("Attention", ["query", "w", given, "", "", mask], ["merged"], domain="com.microsoft", **heads))
        else:
            for x, name in zip("qkv", ("query", "key", "value")):
                nodes.append(node("MatMul", [name, "w" + x], [x]))
                inputs["b" + x] = None
            nodes.append(node("MultiHeadAttention", ["q", "k", "v", given, "", mask], ["merged"], domain="com.microsoft", **heads))
    else:
        for x, name in zip("qkv", ("query", "key", "value")):
            linear(name, "w" + x, "b" + x, x)
        inputs["mask"] = (case.keep if all(m.dtype == bool for m in case.masks) else case.added)("full" in PATH)
        nodes.append(node("Attention", ["q", "k", "v"] + (["mask"] if inputs["mask"] is not None else []), ["merged", "", "", "weights"] if "weights" in PATH else ["merged"],
                          q_num_heads=case.H, kv_num_heads=case.H, **({"qk_matmul_output_mode": 3} if "weights" in PATH else {})))
    linear("merged", "wo", "bo", "output")
    names = ["output"] + (["weights"] if "weights" in PATH else [])
    return dict(zip(("output", "attn_weights"), run(case, nodes, inputs, names)))


pipe.serve(attention, versions)
