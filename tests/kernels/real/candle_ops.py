# SPDX-License-Identifier: MIT
"""candle (Rust) through its Python package: matmul, candle.functional.softmax, matmul."""
import importlib.metadata
import candle
import candle.functional as F
import numpy as np
import pipe


def tensor(x):
    flat = candle.Tensor(np.ascontiguousarray(x, np.float32).ravel().tolist())
    return flat.to_dtype(candle.f32).reshape(x.shape)


numpy = lambda x, shape: np.array(x.to_dtype(candle.f32).contiguous().flatten_all().values(), np.float32).reshape(shape)


def linear(x, w, b):
    y = tensor(x.reshape(-1, x.shape[-1])).matmul(tensor(w).t())
    return numpy(y if b is None else y.broadcast_add(tensor(b)), x.shape[:-1] + w.shape[:1])


def attention(case):
    case.lacks("bias_kv", "zero_attn", "empty arrays")
    mask = case.added()

    def core(q, k, v):
        s = tensor(q).matmul(tensor(k).transpose(2, 3).contiguous()) * (case.D ** -0.5)
        s = s if mask is None else s.broadcast_add(tensor(mask))
        p = F.softmax(s, 3)
        return numpy(p.matmul(tensor(v)), q.shape), {"attn_weights": numpy(p, q.shape[:3] + k.shape[2:3])}

    return case.layer(linear, core)


pipe.serve(attention, {"candle": importlib.metadata.version("candle-nn")})
