# SPDX-License-Identifier: MIT
"""tinygrad's Tensor.scaled_dot_product_attention between Tensor.linear. A bool mask is true where a query sees a key."""
import importlib.metadata
import numpy as np
from tinygrad import Tensor, dtypes
import pipe


def attention(case):
    case.lacks("bias_kv", "zero_attn", dtypes=("float16", "bfloat16", "float32", "float64"))
    dtype = {"float16": dtypes.float16, "bfloat16": dtypes.bfloat16, "float32": dtypes.float32, "float64": dtypes.float64}[case.dtype]
    tensor = lambda x: Tensor(x) if x.dtype == bool else Tensor(x).cast(dtype).realize()
    numpy = lambda x: x.cast(dtypes.float64 if case.dtype == "float64" else dtypes.float32).numpy()
    linear = lambda x, w, b: numpy(tensor(x).linear(tensor(w).T, None if b is None else tensor(b)))
    mask = case.keep() if all(m.dtype == bool for m in case.masks) else case.added()
    mask = None if mask is None else tensor(mask)
    return case.layer(linear, lambda q, k, v: numpy(tensor(q).scaled_dot_product_attention(tensor(k), tensor(v), attn_mask=mask)))


pipe.serve(attention, {"tinygrad": importlib.metadata.version("tinygrad")})
