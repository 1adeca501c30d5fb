# SPDX-License-Identifier: MIT
"""haiku.MultiHeadAttention. A bool mask is true where a query sees a key."""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pipe

jax.config.update("jax_enable_x64", True)


def attention(case):
    case.lacks("bias_kv", "zero_attn", "float mask", "layer with out_proj.bias alone", dtypes=("float16", "bfloat16", "float32", "float64"))
    array = lambda x: jnp.asarray(x, case.dtype)
    net = hk.without_apply_rng(hk.transform(lambda q, k, v, mask: hk.MultiHeadAttention(
        case.H, case.D, w_init=hk.initializers.Constant(0), with_bias=case.out_bias is not None, model_size=case.E, name="mha")(q, k, v, mask)))
    params = {f"mha/{name}": {"w": array(w.T), **({} if b is None else {"b": array(b)})} for name, w, b in
              zip(("query", "key", "value", "linear"), case.weight + [case.out_weight], case.bias + [case.out_bias])}
    y = net.apply(params, array(case.query), array(case.key), array(case.value), case.keep(full=True))
    return {"output": np.asarray(y, np.float64 if case.dtype == "float64" else np.float32)}


pipe.serve(attention, {"Haiku": hk.__version__, "JAX": jax.__version__})
