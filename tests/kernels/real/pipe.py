# SPDX-License-Identifier: MIT
"""What the adapters share: the pipe, and a case with its arguments laid out as an attention function takes them.

An adapter calls serve(attention, versions). attention(case) returns stages in the canonical layout, or raises
Skip with what its implementation does not have. Nothing is computed here but the merging of two masks into the
one argument that most implementations take, and that only moves numbers, or adds two.
"""
import json
import sys
import numpy as np


class Skip(Exception):
    pass


class Case:
    """given: the members as they are. Besides: query key value (N,T,C), weight and bias of q, k, v, and masks."""

    def __init__(self, path):
        self.given = c = dict(np.load(path))
        self.dtype = bytes(c.pop("dtype")).decode()
        self.E, self.H, self.batch_first = int(c["embed_dim"]), int(c["num_heads"]), bool(c["batch_first"])
        self.D = self.E // self.H
        self.query, self.key, self.value = (self.rows(c[n]) for n in ("query", "key", "value"))
        (self.N, self.L), self.S = self.query.shape[:2], self.key.shape[1]
        self.weight = np.split(c["in_proj_weight"], 3) if "in_proj_weight" in c else [c[n + "_proj_weight"] for n in "qkv"]
        self.bias = np.split(c["in_proj_bias"], 3) if "in_proj_bias" in c else [None] * 3
        self.out_weight, self.out_bias = c["out_proj.weight"], c.get("out_proj.bias")
        mask, padding = c.get("attn_mask"), c.get("key_padding_mask")       # true: hidden
        self.attn_mask = mask if mask is None else mask.reshape((1, 1) + mask.shape if mask.ndim == 2 else (self.N, self.H) + mask.shape[1:])
        self.padding = padding if padding is None else padding.reshape(self.N, 1, 1, self.S)
        self.masks = [m for m in (self.attn_mask, self.padding) if m is not None]

    def rows(self, x):
        return x[None] if x.ndim == 2 else x if self.batch_first else np.ascontiguousarray(x.swapaxes(0, 1))

    def same(self, a, b):
        """Whether two arguments are the same array, as in self-attention."""
        return self.given[a].shape == self.given[b].shape and self.given[a].tobytes() == self.given[b].tobytes()

    def lacks(self, *features, dtypes=("float32",)):
        """Say what the implementation does not have: a case that needs it is skipped."""
        c = self.given
        needs = {"bias_kv": "bias_k" in c, "zero_attn": c["add_zero_attn"], "separate kdim or vdim": "q_proj_weight" in c,
                 "float mask": any(m.dtype != bool for m in self.masks), "mask": self.masks, "attn_mask": "attn_mask" in c,
                 "mask for each head": "attn_mask" in c and self.attn_mask.shape[1] > 1, "key_padding_mask": "key_padding_mask" in c,
                 "key and value of different arrays": not self.same("key", "value"),
                 "query, key and value of different arrays": not (self.same("query", "key") and self.same("key", "value")),
                 "layer without bias": self.out_bias is None, "layer with out_proj.bias alone": (self.bias[0] is None) != (self.out_bias is None),
                 "empty arrays": 0 in (self.N, self.L, self.S), self.dtype: self.dtype not in dtypes}
        for f in features + (self.dtype,):
            if needs[f]:
                raise Skip("no " + f)

    def keep(self, full=False):
        """One bool mask, true where a query sees a key (the opposite of the case's), or None. full: (N,H,L,S)."""
        self.lacks("float mask", dtypes=(self.dtype,))
        return self.merged([~m for m in self.masks], np.logical_and, full)

    def added(self, full=False):
        """One float mask to add to the scores, or None."""
        return self.merged([np.where(m, -np.inf, 0).astype(self.query.dtype) if m.dtype == bool else m for m in self.masks], np.add, full)

    def merged(self, masks, how, full):
        if not masks:
            return None
        m = masks[0] if len(masks) == 1 else how(*masks)
        return np.ascontiguousarray(np.broadcast_to(m, (self.N, self.H, self.L, self.S))) if full else m

    def layer(self, linear, core):
        """The stages of a layer whose projections are linear(x, w, b) = x w^T + b and whose attention is
        core(q, k, v): (N,H,T,D) to (N,H,L,D) and perhaps weights, all numpy arrays, both in the framework's own numbers."""
        split = lambda x: np.ascontiguousarray(x.reshape(self.N, -1, self.H, self.D).swapaxes(1, 2)) if x.size else np.zeros((self.N, self.H, x.shape[1], self.D), x.dtype)
        q, k, v = (split(linear(x, w, b)) for x, w, b in zip((self.query, self.key, self.value), self.weight, self.bias))
        heads = core(q, k, v)
        heads, stages = heads if isinstance(heads, tuple) else (heads, {})
        merged = np.ascontiguousarray(heads.swapaxes(1, 2)).reshape(self.N, self.L, self.E)
        return {"output": linear(merged, self.out_weight, self.out_bias), "head_outputs": heads, **stages}


def serve(attention, versions):
    """Answer the lines of standard input; --versions prints what is under test instead."""
    if sys.argv[1:] == ["--versions"]:
        return print(json.dumps(versions))
    for line in sys.stdin:
        path, out = line.rstrip("\n").split("\t")
        try:
            stages = attention(Case(path))
            np.savez(out, **{n: np.ascontiguousarray(x) for n, x in stages.items() if x is not None})
            answer = "ok"
        except Skip as e:
            answer = f"skip {e}"
        except Exception as e:                                                  # the implementation refuses what it claims to take
            answer = " ".join(f"fail {type(e).__name__}: {e}".split())[:400]
        print(answer, flush=True)
