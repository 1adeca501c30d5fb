# SPDX-License-Identifier: MIT
# qkvec check --command 'python3 numpy_adapter.py'
import sys
import numpy as np
np.seterr(all="ignore")
for line in sys.stdin:
    c, out = dict(np.load(line.split("\t")[0])), line.rstrip("\n").split("\t")[1]
    E, H = int(c["embed_dim"]), int(c["num_heads"])
    rows = lambda x: x[None] if x.ndim == 2 else x if c["batch_first"] else x.swapaxes(0, 1)   # (N, T, channels)
    w = np.split(c["in_proj_weight"], 3) if "in_proj_weight" in c else [c[n + "_proj_weight"] for n in "qkv"]
    b = np.split(c["in_proj_bias"], 3) if "in_proj_bias" in c else np.zeros((3, 1), w[0].dtype)
    q, k, v = (rows(c[n]) @ w[i].T + b[i] for i, n in enumerate(("query", "key", "value")))
    N, L, S = len(q), q.shape[1], k.shape[1]
    extra = ([[c["bias_k"], c["bias_v"]]] if "bias_k" in c else []) + ([np.zeros((2, E), q.dtype)] if c["add_zero_attn"] else [])
    k, v = (np.concatenate([x] + [np.broadcast_to(e[i], (N, 1, E)) for e in extra], 1) for i, x in enumerate((k, v)))
    q, k, v = (x.reshape(N, x.shape[1], H, E // H).swapaxes(1, 2) for x in (q, k, v))
    s = (q / q.dtype.type(np.sqrt(E // H))) @ k.swapaxes(2, 3)
    masks = {"attn_mask": (-1, H, L, S) if c.get("attn_mask", s).ndim == 3 else (1, 1, L, S), "key_padding_mask": (N, 1, 1, S)}
    for m, shape in ((c[name], shape) for name, shape in masks.items() if name in c and s.size):
        s[..., :S] += (np.where(m, -np.inf, 0) if m.dtype == bool else m).reshape(shape).astype(s.dtype)
    p = np.exp(s - s.max(-1, keepdims=True, initial=-np.inf))
    p /= p.sum(-1, keepdims=True)
    o = (p @ v).swapaxes(1, 2).reshape(N, L, E) @ c["out_proj.weight"].T + c.get("out_proj.bias", q.dtype.type(0))
    np.savez(out, output=np.ascontiguousarray(o), attn_weights=p, attn_weights_mean=p.mean(1))
    print("ok", flush=True)
