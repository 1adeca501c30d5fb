#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the seeds of fuzz_vector: the smallest vectors with each kind of member, stored."""
import os

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")


def seed(name, N=2, L=2, S=3, E=2, H=1, Ek=None, Ev=None, layout="batch_first", bias=True, rows=False, zero=0, more=lambda f4: {}):
    separate = Ek or Ev
    Ek, Ev = Ek or E, Ev or E

    def f4(*shape):
        return (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5 - 2).astype("<f4") / 2

    def x(T, C):
        return f4(N, T, C) if layout == "batch_first" else f4(T, N, C) if layout == "batch_second" else f4(T, C)

    whole = dict(format=1, embed_dim=E, kdim=Ek, vdim=Ev, num_heads=H, batch_first=int(layout == "batch_first"),
                 add_zero_attn=zero, is_causal=0)
    file = {k: np.array(v, "<i8") for k, v in whole.items()}
    file["dropout"] = np.array(0.0)
    file.update(query=x(L, E), key=x(S, Ek), value=x(S, Ev))
    if separate:
        file.update(q_proj_weight=f4(E, E), k_proj_weight=f4(E, Ek), v_proj_weight=f4(E, Ev))
    else:
        file["in_proj_weight"] = f4(3 * E, E)
    if bias:
        file.update({"in_proj_bias": f4(3 * E), "out_proj.bias": f4(E)})
    if rows:
        file.update(bias_k=f4(1, 1, E), bias_v=f4(1, 1, E))
    file["out_proj.weight"] = f4(E, E)
    file.update(more(f4))
    np.savez(os.path.join(HERE, name + ".npz"), **file)


os.makedirs(HERE, exist_ok=True)
seed("plain")
seed("separate", Ek=1, Ev=3, bias=False, layout="batch_second")
seed("unbatched", layout="unbatched", rows=True, zero=1, more=lambda f4: {"key_padding_mask": f4(3) > 0})
seed("masks", H=2, more=lambda f4: {"attn_mask": f4(4, 2, 3), "key_padding_mask": f4(2, 3) > 0})
seed("bool_mask", more=lambda f4: {"attn_mask": f4(2, 3) > 0, "key_padding_mask": f4(2, 3)})
seed("empty", N=0, more=lambda f4: {"attn_mask": f4(0, 2, 3)})
seed("stages", N=1, L=1, S=1, E=1, more=lambda f4: {
    "output": np.zeros((1, 1, 1)), "sigma.output": np.zeros((1, 1, 1)), "alt.zero_rows.attn_weights": np.zeros((1, 1, 1, 1)),
    "about": np.frombuffer("h\u00e9".encode(), np.uint8)})
