# SPDX-License-Identifier: MIT
"""equinox.nn.MultiheadAttention, mapped over the batch. A bool mask is true where a query sees a key."""
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pipe

jax.config.update("jax_enable_x64", True)


def attention(case):
    case.lacks("bias_kv", "zero_attn", "float mask", "layer with out_proj.bias alone", dtypes=("float16", "bfloat16", "float32", "float64"))
    array = lambda x: jnp.asarray(x, case.dtype)
    bias = {f"use_{n}_bias": case.out_bias is not None for n in ("query", "key", "value", "output")}
    module = eqx.nn.MultiheadAttention(case.H, case.E, case.key.shape[-1], case.value.shape[-1], case.E, **bias, inference=True,
                                       dtype=case.dtype, key=jax.random.PRNGKey(0))
    for name, w, b in zip(("query_proj", "key_proj", "value_proj", "output_proj"), case.weight + [case.out_weight], case.bias + [case.out_bias]):
        module = eqx.tree_at(lambda m: getattr(m, name).weight, module, array(w))
        module = module if b is None else eqx.tree_at(lambda m: getattr(m, name).bias, module, array(b))
    mask = case.keep(full=True)
    x = [array(case.query), array(case.key), array(case.value)] + ([] if mask is None else [mask])
    y = jax.vmap(lambda q, k, v, *m: module(q, k, v, mask=m[0] if m else None))(*x)
    return {"output": np.asarray(y, np.float64 if case.dtype == "float64" else np.float32)}


pipe.serve(attention, {"Equinox": eqx.__version__, "JAX": jax.__version__})
