# SPDX-License-Identifier: MIT
"""PaddlePaddle: paddle.nn.MultiHeadAttention ("weights": need_weights=True, "module") and
F.scaled_dot_product_attention ("sdpa", which has (N,T,H,D)). A bool mask is true where a query sees a key."""
import sys
import numpy as np
import paddle
import paddle.nn.functional as F
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "module"
paddle.set_device("cpu")


def attention(case):
    case.lacks("bias_kv", "zero_attn", dtypes=("float32", "float64"))
    tensor = lambda x: None if x is None else paddle.to_tensor(x)
    mask = tensor(case.keep() if all(m.dtype == bool for m in case.masks) else case.added())
    if PATH == "sdpa":
        linear = lambda x, w, b: F.linear(tensor(x), tensor(np.ascontiguousarray(w.T)), tensor(b)).numpy()
        turn = lambda x: tensor(np.ascontiguousarray(x.swapaxes(1, 2)))
        return case.layer(linear, lambda q, k, v: F.scaled_dot_product_attention(turn(q), turn(k), turn(v), mask).numpy().swapaxes(1, 2))
    case.lacks("layer with out_proj.bias alone", dtypes=(case.dtype,))
    paddle.set_default_dtype(case.dtype)
    c = case.given
    module = paddle.nn.MultiHeadAttention(case.E, case.H, kdim=int(c["kdim"]), vdim=int(c["vdim"]), need_weights=PATH == "weights",
                                          bias_attr=None if case.out_bias is not None else False)
    for name, w, b in zip(("q_proj", "k_proj", "v_proj", "out_proj"), case.weight + [case.out_weight], case.bias + [case.out_bias]):
        getattr(module, name).weight.set_value(np.ascontiguousarray(w.T))
        if b is not None:
            getattr(module, name).bias.set_value(b)
    module.eval()
    y = module(tensor(case.query), tensor(case.key), tensor(case.value), mask)
    return {"output": y[0].numpy(), "attn_weights": y[1].numpy()} if PATH == "weights" else {"output": y.numpy()}


pipe.serve(attention, {"PaddlePaddle": paddle.__version__})
