# SPDX-License-Identifier: MIT
"""F.scaled_dot_product_attention between F.linear: "any" backend, or "math", "flash", or "compile"."""
import sys
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "any"
sdpa = torch.compile(F.scaled_dot_product_attention, dynamic=True) if PATH == "compile" else F.scaled_dot_product_attention
BACKENDS = {"math": [SDPBackend.MATH], "flash": [SDPBackend.FLASH_ATTENTION]}.get(PATH, [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH])


def attention(case):
    case.lacks("bias_kv", "zero_attn", dtypes=("float16", "bfloat16", "float32", "float64"))
    dtype = getattr(torch, case.dtype)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    tensor = lambda x: None if x is None else torch.from_numpy(x) if x.dtype == bool else torch.from_numpy(x).to(dtype)
    mask = tensor(case.keep() if all(m.dtype == bool for m in case.masks) else case.added())
    linear = lambda x, w, b: F.linear(tensor(x), tensor(w), tensor(b)).to(wide).numpy()
    with torch.no_grad(), sdpa_kernel(BACKENDS):
        return case.layer(linear, lambda q, k, v: sdpa(tensor(q), tensor(k), tensor(v), mask).to(wide).numpy())


pipe.serve(attention, {"PyTorch": torch.__version__})
