# SPDX-License-Identifier: MIT
"""flax.nnx.MultiHeadAttention ("nnx": the output alone; "nnx_weights": with sow_weights) and
flax.linen.MultiHeadDotProductAttention ("linen"). Kernels are (in,H,D) and (H,D,out)."""
import sys
import flax
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen, nnx
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "nnx"
jax.config.update("jax_enable_x64", True)


def attention(case):
    case.lacks("bias_kv", "zero_attn", "float mask", "layer with out_proj.bias alone", dtypes=("float16", "bfloat16", "float32", "float64"))
    E, H, D = case.E, case.H, case.D
    array = lambda x: jnp.asarray(x, case.dtype)
    wide = np.float64 if case.dtype == "float64" else np.float32
    mask = case.keep()
    params = {n: {"kernel": array(w.T.reshape(-1, H, D)), **({} if b is None else {"bias": array(b.reshape(H, D))})}
              for n, w, b in zip(("query", "key", "value"), case.weight, case.bias)}
    params["out"] = {"kernel": array(case.out_weight.T.reshape(H, D, E)), **({} if case.out_bias is None else {"bias": array(case.out_bias)})}
    q, k, v = (array(x) for x in (case.query, case.key, case.value))
    options = {"num_heads": H, "qkv_features": E, "out_features": E, "use_bias": case.out_bias is not None, "dtype": case.dtype, "param_dtype": case.dtype}
    weights = None
    if PATH == "linen":
        o, state = linen.MultiHeadDotProductAttention(**options, deterministic=True).apply(
            {"params": params}, q, k, v, mask=mask, sow_weights=True, mutable=["intermediates"])
        weights = state["intermediates"]["attention_weights"][0]
    else:
        if k.shape[-1] != v.shape[-1]:
            raise pipe.Skip("no kdim other than vdim")
        module = nnx.MultiHeadAttention(in_features=E, in_kv_features=k.shape[-1], decode=False, deterministic=True, rngs=nnx.Rngs(0), **options)
        for n, p in params.items():
            for name, x in p.items():
                setattr(getattr(module, n), name, nnx.Param(x))
        o = module(q, k, v, mask=mask, sow_weights=PATH == "nnx_weights")
        if PATH == "nnx_weights":
            weights = module.attention_weights[0] if isinstance(module.attention_weights, tuple) else module.attention_weights.value[0]
    return {"output": np.asarray(o, wide), "attn_weights": None if weights is None else np.asarray(weights, wide)}


pipe.serve(attention, {"Flax": flax.__version__, "JAX": jax.__version__})
