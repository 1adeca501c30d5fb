#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many random cases a second a loop in Python judges with PyTorch as the oracle: what qkvec fuzz is compared with.

The cases have the sizes of qkvec fuzz --small, its appended rows and most of its masks and numbers; the kernel is the same one, called
by ctypes in this process. What a loop that is written in an afternoon does not have is not there, and costs nothing: no process of its
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


def numbers(r, shape, scale, grid, odd=True):
    """Normal ones, now and then of an odd kind: far off zero, tiny, all the same, with an outlier, large."""
    odd, x = r.random() if odd else 1, torch.randn(shape)
    if odd < 0.02:
        x = 64 + scale * x
    elif odd < 0.04:
        return scale * 2**-30 * x
    elif odd < 0.06:
        x = torch.full(shape, scale * r.gauss(0, 1))
    elif odd < 0.08 and x.numel():
        x *= scale
        x.view(-1)[r.randrange(x.numel())] = 64 * scale
    else:
        x *= 8 * scale if odd < 0.1 else scale
    return x.mul_(64).round_().div_(64) if grid else x


def mask(r, kind, shape, grid):
    """kind: 1 bool, 2 float, 3 float with infinities, 4 causal."""
    if kind == 4:
        return torch.ones(shape, dtype=torch.bool).triu(1)
    hidden = torch.rand(shape) < 0.6 * r.random()
    if kind == 1:
        return hidden
    added = numbers(r, shape, 2, grid, odd=False)
    return added if kind == 2 else added.masked_fill(hidden, -math.inf)


def case(number):
    r = random.Random(number)
    torch.manual_seed(number)
    N, H, D = size(r, 3, True), size(r, 4), size(r, 7, tail=30)
    L, S, E = size(r, 6, True, 30), size(r, 8, True, 62), H * D
    Ek = Ev = E
    separate = r.random() < 0.25
    if separate:
        Ek, Ev = size(r, 11), size(r, 11)
    grid = r.random() < 0.6
    spread = 8 if r.random() < 0.1 else 1
    c = {"E": E, "H": H, "zero": r.random() < 0.25, "packed": None, "weights": None, "bias": None, "out_bias": None, "bias_k": None, "bias_v": None}
    if separate:
        c["weights"] = [numbers(r, (E, w), x * w ** -0.5, grid) for w, x in ((E, 1.5), (Ek, 1.5 * spread), (Ev, 1))]
    else:
        c["packed"] = numbers(r, (3 * E, E), 1.2 * spread * E ** -0.5, grid)
    if r.random() < 0.85:
        c["bias"], c["out_bias"] = numbers(r, (3 * E,), 0.5, grid), numbers(r, (E,), 0.5, grid)
    if r.random() < 0.25:
        c["bias_k"], c["bias_v"] = numbers(r, (1, 1, E), 1, grid), numbers(r, (1, 1, E), 1, grid)
    c["out"] = numbers(r, (E, E), 1.5 * E ** -0.5, grid)
    c["q"], c["k"], c["v"] = numbers(r, (N, L, E), 1, grid), numbers(r, (N, S, Ek), 1, grid), numbers(r, (N, S, Ev), 1, grid)
    attn, padding = r.randrange(8), r.randrange(7)
    wide = (N * H, L, S) if r.random() < 0.4 else (L, S)
    c["attn"] = mask(r, attn, wide, grid) if 0 < attn < 5 else None
    c["padding"] = mask(r, padding, (N, S), grid) if 0 < padding < 4 else None
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
            wrong += not all(torch.allclose(g.double(), w, rtol=1e-3, atol=1e-3, equal_nan=True) for g, w in zip(got, wanted))
            count += 1
    if wrong:
        sys.exit(f"{wrong} of {count} cases are wrong")
    print(f"{count / (time.process_time() - start):.0f} cases/s of processor time")


main()
