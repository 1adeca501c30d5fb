#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many random cases a second a loop in Python judges with PyTorch as the oracle: what qkvec fuzz is compared with.

The cases have the sizes, masks and appended rows of qkvec fuzz; the kernel is the same one, called by ctypes in this
process. What a loop that is written in an afternoon does not have is not there, and costs nothing: no process of its
own for the kernel, no guarded memory, no envelope (torch.allclose instead), no second answer for rows without a key.
One thread; the oracle is the functional form in float64.

    fuzz_torch.py SECONDS [KERNEL.so]   prints cases per second of processor time; without a kernel it is for nothing
"""
import ctypes
import math
import random
import sys
import time
import warnings

import torch
import torch.nn.functional as F

POINTERS = ("query key value in_proj_weight q_weight k_weight v_weight in_proj_bias out_weight out_bias bias_k bias_v "
            "attn_mask key_padding_mask").split()


class Call(ctypes.Structure):
    """struct qkvec_call"""
    _fields_ = ([(n, ctypes.c_uint32) for n in ("abi", "size", "dtype", "flags")]
                + [(n, ctypes.c_int64) for n in ("N", "L", "S", "Sx", "E", "Ek", "Ev", "H")]
                + [(n, ctypes.c_void_p) for n in POINTERS]
                + [(n, ctypes.c_uint32) for n in ("attn_mask_ndim", "attn_mask_dtype", "padding_dtype", "reserved")]
                + [(n, ctypes.c_void_p) for n in ("mask", "q_heads", "k_heads", "v_heads", "output", "attn_weights",
                                                  "attn_weights_mean", "head_outputs", "written", "reason")])


def size(r, most, empty=False, tail=0):
    if empty and r.random() < 0.01:
        return 0
    if tail and r.random() < 0.02:
        return most + r.randrange(tail)
    n = 1 + r.randrange(most)
    return n - 1 if n % 2 == 0 and r.random() < 0.5 else n


def mask(r, kind, shape):
    """kind: 1 bool, 2 float, 3 float with infinities, 4 causal."""
    if kind == 4:
        return torch.ones(shape, dtype=torch.bool).triu(1)
    hidden = torch.rand(shape) < 0.6 * r.random()
    return hidden if kind == 1 else 2 * torch.randn(shape) if kind == 2 else (2 * torch.randn(shape)).masked_fill(hidden, -math.inf)


def case(number):
    r = random.Random(number)
    torch.manual_seed(number)
    N, H, D = size(r, 3, True), size(r, 4), size(r, 7, tail=30)
    L, S, E = size(r, 6, True, 30), size(r, 8, True, 62), H * D
    Ek = Ev = E
    separate = r.random() < 0.25
    if separate:
        Ek, Ev = size(r, 11), size(r, 11)
    scale = E ** -0.5
    c = {"q": torch.randn(N, L, E), "k": torch.randn(N, S, Ek), "v": torch.randn(N, S, Ev), "E": E, "H": H, "zero": r.random() < 0.25,
         "packed": None if separate else torch.randn(3 * E, E) * scale, "out": torch.randn(E, E) * scale}
    c["weights"] = [torch.randn(E, w) * w ** -0.5 for w in (E, Ek, Ev)] if separate else None
    c["bias"], c["out_bias"] = (torch.randn(3 * E), torch.randn(E)) if r.random() < 0.85 else (None, None)
    c["bias_k"], c["bias_v"] = (torch.randn(1, 1, E), torch.randn(1, 1, E)) if r.random() < 0.25 else (None, None)
    attn, padding = r.randrange(8), r.randrange(7)
    wide = (N * H, L, S) if r.random() < 0.4 else (L, S)
    c["attn"] = mask(r, attn, wide) if 0 < attn < 5 else None
    c["padding"] = mask(r, padding, (N, S)) if 0 < padding < 4 else None
    return c


def oracle(c):
    def wide(x):
        return x.double() if x is not None and x.dtype == torch.float32 else x
    weights = [wide(w) for w in c["weights"]] if c["weights"] else [None] * 3
    output, p = F.multi_head_attention_forward(
        *(wide(c[n]).transpose(0, 1) for n in "qkv"), c["E"], c["H"], wide(c["packed"]), wide(c["bias"]), wide(c["bias_k"]), wide(c["bias_v"]),
        c["zero"], 0.0, wide(c["out"]), wide(c["out_bias"]), training=False, average_attn_weights=False, attn_mask=wide(c["attn"]),
        key_padding_mask=wide(c["padding"]), use_separate_proj_weight=c["weights"] is not None,
        q_proj_weight=weights[0], k_proj_weight=weights[1], v_proj_weight=weights[2])
    return output.transpose(0, 1), p


def added(x):
    return torch.zeros(x.shape).masked_fill(x, -math.inf) if x.dtype == torch.bool else x


def run(kernel, c):
    """What the kernel makes of a case."""
    (N, L, E), (_, S, Ek), Ev, H = c["q"].shape, c["k"].shape, c["v"].shape[2], c["H"]
    Sx = S + (c["bias_k"] is not None) + c["zero"]
    merged = torch.zeros(N, H, L, Sx)
    if c["attn"] is not None:
        merged[..., :S] += added(c["attn"]) if c["attn"].dim() == 2 else added(c["attn"]).view(N, H, L, S)
    if c["padding"] is not None:
        merged[..., :S] += added(c["padding"]).view(N, 1, 1, S)
    output, p = torch.empty(N, L, E), torch.empty(N, H, L, Sx)
    mean, heads = torch.empty(N, L, Sx), torch.empty(N, L, E)
    weights = c["weights"] or c["packed"].view(3, E, E)
    arrays = (c["q"], c["k"], c["v"], c["packed"], *weights, c["bias"], c["out"], c["out_bias"], c["bias_k"], c["bias_v"], c["attn"], c["padding"])
    written, reason = ctypes.c_uint32(), ctypes.create_string_buffer(256)
    attn = c["attn"]
    call = Call(1, ctypes.sizeof(Call), 0, 2 * c["zero"], N, L, S, Sx, E, Ek, Ev, H,
                *(None if x is None else x.data_ptr() for x in arrays),
                0 if attn is None else attn.dim(), 4 * (attn is not None and attn.dtype == torch.bool),
                4 * (c["padding"] is not None and c["padding"].dtype == torch.bool), 0,
                merged.data_ptr(), None, None, None, output.data_ptr(), p.data_ptr(), mean.data_ptr(), heads.data_ptr(),
                ctypes.addressof(written), ctypes.addressof(reason))
    if kernel(ctypes.byref(call)) != 0:
        sys.exit("the kernel does not do it")
    return output, p


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    seconds, kernel, wrong, count = float(sys.argv[1]), None, 0, 0
    if len(sys.argv) > 2:
        kernel = ctypes.CDLL(sys.argv[2]).qkvec_kernel
    start = time.process_time()
    with torch.no_grad():
        while time.process_time() - start < seconds:
            c = case(count)
            wanted = oracle(c)
            got = run(kernel, c) if kernel else [x.float() for x in wanted]
            wrong += not all(torch.allclose(g.double(), w, rtol=1e-4, atol=1e-5, equal_nan=True) for g, w in zip(got, wanted))
            count += 1
    if wrong:
        sys.exit(f"{wrong} of {count} cases are wrong")
    print(f"{count / (time.process_time() - start):.0f} cases/s of processor time")


main()
