# SPDX-License-Identifier: MIT
"""jax.nn.dot_product_attention between jnp matmuls; "default" or "highest" matmul precision. Bool masks go in as
mask, float ones as bias."""
import sys
import jax
import jax.numpy as jnp
import numpy as np
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "default"
jax.config.update("jax_enable_x64", True)
if PATH != "default":
    jax.config.update("jax_default_matmul_precision", PATH)


def attention(case):
    case.lacks("bias_kv", "zero_attn", dtypes=("float16", "bfloat16", "float32", "float64"))
    array = lambda x: jnp.asarray(x, case.dtype)
    numpy = lambda x: np.asarray(x, np.float64 if case.dtype == "float64" else np.float32)
    mask, bias = (case.keep(), None) if all(m.dtype == bool for m in case.masks) else (None, array(case.added()))
    linear = lambda x, w, b: numpy(array(x) @ array(w).T if b is None else array(x) @ array(w).T + array(b))

    def core(q, k, v):
        q, k, v = (array(x).swapaxes(1, 2) for x in (q, k, v))                  # JAX has (N,T,H,D)
        return numpy(jax.nn.dot_product_attention(q, k, v, bias=bias, mask=mask)).swapaxes(1, 2)

    return case.layer(linear, core)


pipe.serve(attention, {"JAX": jax.__version__})
