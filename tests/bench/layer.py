# SPDX-License-Identifier: MIT
"""nn.MultiheadAttention in float64 on one thread, on a case that bench wrote.

python layer.py CASE.npz QUICK: prints the median seconds of a call, and the
largest distance of its output from that in the file.
"""
import sys
import time

import numpy as np
import torch

torch.set_num_threads(1)
torch.set_grad_enabled(False)
v = np.load(sys.argv[1])
m = torch.nn.MultiheadAttention(int(v["embed_dim"]), int(v["num_heads"]), batch_first=True, dtype=torch.float64).eval()
m.load_state_dict({name: torch.from_numpy(v[name]).double() for name in m.state_dict()})
q, k, x = (torch.from_numpy(v[name]).double() for name in ("query", "key", "value"))


def run(calls):
    start = time.process_time()
    for _ in range(calls):
        m(q, k, x)
    return (time.process_time() - start) / calls


first = run(1)
first = min(first, run(3))
calls = max(1, int(0.05 / first))
seconds = first if sys.argv[2] == "1" else float(np.median([run(calls) for _ in range(7)]))
print(seconds, float(np.abs(m(q, k, x)[0].numpy() - v["output"]).max()))
