# SPDX-License-Identifier: MIT
"""mindspore.nn.MultiheadAttention, made after PyTorch's: "weights" or "no_weights"."""
import sys
import numpy as np
import mindspore as ms
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "weights"
ms.set_device("CPU")


def attention(case):
    case.lacks("layer with out_proj.bias alone", "empty arrays", dtypes=("float32", "float16"))
    c, dtype = case.given, getattr(ms, case.dtype)
    t = {n: ms.Tensor(x) for n, x in c.items() if x.dtype.kind in "fb"}
    module = ms.nn.MultiheadAttention(case.E, case.H, has_bias="in_proj_bias" in c, add_bias_kv="bias_k" in c, add_zero_attn=bool(c["add_zero_attn"]),
                                      kdim=int(c["kdim"]), vdim=int(c["vdim"]), batch_first=case.batch_first, dtype=dtype).set_train(False)
    for p in module.get_parameters():
        p.set_data(t[p.name])
    y = module(t["query"], t["key"], t["value"], key_padding_mask=t.get("key_padding_mask"), attn_mask=t.get("attn_mask"),
               need_weights=PATH == "weights", average_attn_weights=False)
    o, p = y[0].asnumpy(), y[1].asnumpy() if len(y) > 1 else None
    return {"output": case.rows(o), "attn_weights": None if p is None else p[None] if p.ndim == 3 else p}


pipe.serve(attention, {"MindSpore": ms.__version__})
