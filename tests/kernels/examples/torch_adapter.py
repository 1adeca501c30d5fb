# SPDX-License-Identifier: MIT
# qkvec check --command 'python3 torch_adapter.py': PyTorch itself, in the type that is asked for
import sys
import numpy as np
import torch
names = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}
for line in sys.stdin:
    path, out = line.rstrip("\n").split("\t")
    c = dict(np.load(path))
    dtype = names[bytes(c["dtype"]).decode()]
    t = {n: torch.from_numpy(x) if x.dtype == bool else torch.from_numpy(x).to(dtype) for n, x in c.items() if x.dtype.kind in "fb"}
    module = torch.nn.MultiheadAttention(int(c["embed_dim"]), int(c["num_heads"]), bias="in_proj_bias" in c, add_bias_kv="bias_k" in c,
                                         add_zero_attn=bool(c["add_zero_attn"]), kdim=int(c["kdim"]), vdim=int(c["vdim"]),
                                         batch_first=bool(c["batch_first"]), dtype=dtype).eval()
    module.load_state_dict({n: t[n] for n in module.state_dict()})
    with torch.no_grad():
        o, p = module(t["query"], t["key"], t["value"], key_padding_mask=t.get("key_padding_mask"), attn_mask=t.get("attn_mask"),
                      average_attn_weights=False)
    if o.dim() == 2:
        o, p = o[None], p[None]
    elif not c["batch_first"]:
        o = o.transpose(0, 1)
    np.savez(out, output=o.to(torch.float64).contiguous().numpy(), attn_weights=p.to(torch.float64).contiguous().numpy())
    print("ok", flush=True)
