# SPDX-License-Identifier: MIT
# qkvec check --command 'python3 jax_adapter.py'
import sys
import jax, numpy as np, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")    # or this is tf32 on some devices, and the report says so
for line in sys.stdin:
    c, out = dict(np.load(line.split("\t")[0])), line.rstrip("\n").split("\t")[1]
    dtype, E, H = bytes(c["dtype"]).decode(), int(c["embed_dim"]), int(c["num_heads"])
    c = {n: jnp.asarray(x, dtype if x.dtype.kind == "f" else None) for n, x in c.items() if x.dtype.kind != "u"}
    rows = lambda x: x[None] if x.ndim == 2 else x if c["batch_first"] else x.swapaxes(0, 1)   # (N, T, channels)
    w = jnp.split(c["in_proj_weight"], 3) if "in_proj_weight" in c else [c[n + "_proj_weight"] for n in "qkv"]
    b = jnp.split(c["in_proj_bias"], 3) if "in_proj_bias" in c else jnp.zeros((3, 1), dtype)
    q, k, v = (rows(c[n]) @ w[i].T + b[i] for i, n in enumerate(("query", "key", "value")))
    N, L, S = len(q), q.shape[1], k.shape[1]
    extra = ([[c["bias_k"], c["bias_v"]]] if "bias_k" in c else []) + ([jnp.zeros((2, E), dtype)] if c["add_zero_attn"] else [])
    k, v = (jnp.concatenate([x] + [jnp.broadcast_to(e[i], (N, 1, E)) for e in extra], 1) for i, x in enumerate((k, v)))
    q, k, v = (x.reshape(N, x.shape[1], H, E // H).swapaxes(1, 2) for x in (q, k, v))
    s = (q / jnp.sqrt(jnp.asarray(E // H, dtype))) @ k.swapaxes(2, 3)
    masks = {"attn_mask": (-1, H, L, S) if c.get("attn_mask", s).ndim == 3 else (1, 1, L, S), "key_padding_mask": (N, 1, 1, S)}
    for m, shape in ((c[name], shape) for name, shape in masks.items() if name in c and s.size):
        s = s.at[..., :S].add((jnp.where(m, -jnp.inf, 0) if m.dtype == bool else m).reshape(shape).astype(dtype))
    p = jax.nn.softmax(s, -1, where=None)
    o = (p @ v).swapaxes(1, 2).reshape(N, L, E) @ c["out_proj.weight"].T + c.get("out_proj.bias", jnp.zeros((), dtype))
    np.savez(out, output=np.asarray(o, np.float64), attn_weights=np.asarray(p, np.float64)), print("ok", flush=True)
