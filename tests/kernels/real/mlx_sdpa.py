# SPDX-License-Identifier: MIT
"""MLX on the CPU: mx.fast.scaled_dot_product_attention between matmuls ("fast"), or mlx.nn.MultiHeadAttention ("nn",
which has no biases of its own but bias=True for all four)."""
import importlib.metadata
import sys
import numpy as np
import mlx.core as mx
import mlx.nn as nn
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "fast"
mx.set_default_device(mx.cpu)


def attention(case):
    case.lacks("bias_kv", "zero_attn", dtypes=("float16", "bfloat16", "float32"))
    dtype = getattr(mx, case.dtype)
    array = lambda x: None if x is None else mx.array(x) if x.dtype == bool else mx.array(x).astype(dtype)
    numpy = lambda x: np.array(x.astype(mx.float32))
    if PATH == "nn":
        case.lacks("layer with out_proj.bias alone", dtypes=(case.dtype,))
        module = nn.MultiHeadAttention(case.E, case.H, key_input_dims=case.key.shape[-1], value_input_dims=case.value.shape[-1], bias=case.out_bias is not None)
        for name, w, b in zip(("query_proj", "key_proj", "value_proj", "out_proj"), case.weight + [case.out_weight], case.bias + [case.out_bias]):
            setattr(getattr(module, name), "weight", array(w))
            if b is not None:
                setattr(getattr(module, name), "bias", array(b))
        return {"output": numpy(module(array(case.query), array(case.key), array(case.value), array(case.added())))}
    mask = array(case.keep() if all(m.dtype == bool for m in case.masks) else case.added())
    linear = lambda x, w, b: numpy(array(x) @ array(w).T if b is None else mx.addmm(array(b), array(x), array(w).T))
    return case.layer(linear, lambda q, k, v: numpy(mx.fast.scaled_dot_product_attention(
        array(q), array(k), array(v), scale=case.D ** -0.5, mask=mask)))


pipe.serve(attention, {"MLX": importlib.metadata.version("mlx")})
