# SPDX-License-Identifier: MIT
"""torch.nn.MultiheadAttention: "weights" (the slow path, gradients on), "weights_fast" (no gradients: the native
path where its conditions hold), "no_weights" and "no_weights_fast" (need_weights=False), "compile"."""
import sys
import torch
import pipe

PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "weights"
DTYPES = {n: getattr(torch, n) for n in ("float16", "bfloat16", "float32", "float64")}


def attention(case):
    c, dtype = case.given, DTYPES[case.dtype]
    t = {n: torch.from_numpy(x) if x.dtype == bool else torch.from_numpy(x).to(dtype) for n, x in c.items() if x.dtype.kind in "fb"}
    module = torch.nn.MultiheadAttention(case.E, case.H, bias="in_proj_bias" in c, add_bias_kv="bias_k" in c, add_zero_attn=bool(c["add_zero_attn"]),
                                         kdim=int(c["kdim"]), vdim=int(c["vdim"]), batch_first=case.batch_first, dtype=dtype).eval()
    if case.out_bias is not None and case.bias[0] is None:
        module.out_proj.bias = torch.nn.Parameter(torch.empty(case.E, dtype=dtype))
    module.load_state_dict({n: t[n] for n in module.state_dict()})
    q, k, v = t["query"], t["key"], t["value"]
    if case.same("query", "key"):
        k = q
    if case.same("key", "value"):
        v = k
    options = {"need_weights": not PATH.startswith("no_weights")}
    if options["need_weights"]:
        options["average_attn_weights"] = False
    if torch.__version__ >= "2" and c["is_causal"]:
        options["is_causal"] = True
    call = torch.compile(module) if PATH == "compile" else module
    with torch.set_grad_enabled(not PATH.endswith("fast")):
        o, p = call(q, k, v, key_padding_mask=t.get("key_padding_mask"), attn_mask=t.get("attn_mask"), **options)
    o = o.unsqueeze(0) if o.dim() == 2 else o if case.batch_first else o.transpose(0, 1)
    p = p.unsqueeze(0) if p is not None and p.dim() == 3 else p
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    return {"output": o.detach().to(wide).numpy(), "attn_weights": None if p is None else p.detach().to(wide).numpy()}


pipe.serve(attention, {"PyTorch": torch.__version__})
