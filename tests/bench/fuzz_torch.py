#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many random cases a second a loop in Python judges with PyTorch as the oracle: what qkvec fuzz is compared with.

The cases have the sizes, masks and appended rows of qkvec fuzz. Everything that can be had for nothing is: the kernel
under test costs nothing (its result is the oracle's, rounded), there is no worker process, no second run, no
envelope, only torch.allclose. One thread, float64, the functional form.

    fuzz_torch.py [SECONDS]   prints cases per second of processor time
"""
import random
import sys
import time
import torch
import torch.nn.functional as F


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
    return hidden if kind == 1 else 2 * torch.randn(shape) if kind == 2 else (2 * torch.randn(shape)).masked_fill(hidden, float("-inf"))


def case(number):
    r = random.Random(number)
    torch.manual_seed(number)
    N, H, D = size(r, 3, True), size(r, 4), size(r, 7, tail=30)
    L, S, E = size(r, 6, True, 30), size(r, 8, True, 62), H * D
    Ek = Ev = E
    separate = r.random() < 0.25
    if separate:
        Ek, Ev = size(r, 11), size(r, 11)
    q, k, v = torch.randn(L, N, E), torch.randn(S, N, Ek), torch.randn(S, N, Ev)
    weights = {"q_proj_weight": torch.randn(E, E), "k_proj_weight": torch.randn(E, Ek), "v_proj_weight": torch.randn(E, Ev)} if separate else {}
    packed = None if separate else torch.randn(3 * E, E) / max(E, 1) ** 0.5
    bias, out_bias = (torch.randn(3 * E), torch.randn(E)) if r.random() < 0.85 else (None, None)
    bias_k, bias_v = (torch.randn(1, 1, E), torch.randn(1, 1, E)) if r.random() < 0.25 else (None, None)
    attn, padding = r.randrange(8), r.randrange(7)
    wide = (N * H, L, S) if r.random() < 0.4 else (L, S)
    return q, k, v, E, H, packed, bias, bias_k, bias_v, r.random() < 0.25, torch.randn(E, E) / max(E, 1) ** 0.5, out_bias, {
        **weights, "use_separate_proj_weight": separate, "attn_mask": mask(r, attn, wide) if 0 < attn < 5 else None,
        "key_padding_mask": mask(r, padding, (N, S)) if 0 < padding < 4 else None}


def widen(x):
    return x.double() if isinstance(x, torch.Tensor) and x.dtype == torch.float32 else x


def oracle(c):
    q, k, v, E, H, packed, bias, bias_k, bias_v, zero, out, out_bias, more = c
    return F.multi_head_attention_forward(*map(widen, (q, k, v)), E, H, widen(packed), widen(bias), widen(bias_k), widen(bias_v), zero, 0.0,
                                          widen(out), widen(out_bias), training=False, average_attn_weights=False, **{n: widen(x) for n, x in more.items()})


def main():
    import warnings
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    seconds, count, start = float(sys.argv[1]) if len(sys.argv) > 1 else 10, 0, time.process_time()
    with torch.no_grad():
        while time.process_time() - start < seconds:
            output, weights = oracle(case(count))
            assert torch.allclose(output.float().double(), output, equal_nan=True) and torch.allclose(weights.float().double(), weights, equal_nan=True)
            count += 1
    print(f"{count / (time.process_time() - start):.0f} cases/s of processor time")


main()
