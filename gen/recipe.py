# SPDX-License-Identifier: MIT
"""What torch.nn.MultiheadAttention computes, in torch ops, one op a line, every stage under its name.

Letters: N batch, L target length, S source length, E embed_dim, H heads, D = E / H, Sx = S and the appended rows.
"""
import math

import torch


def canonical(x, members):
    """(L,N,E), (N,L,E) or unbatched (L,E) -> (N,L,E)"""
    if x.dim() == 2:
        return x.unsqueeze(0)
    return x if members["batch_first"] else x.transpose(0, 1)


def additive(mask, dtype):
    """true means: may not be attended; a float mask is added as it is"""
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf)
    return mask.to(dtype)


def merged_mask(members, N, H, L, S, appended, dtype):
    """Both masks become numbers to add; the appended columns are never masked."""
    mask = torch.zeros(N, H, L, S, dtype=dtype)
    if "attn_mask" in members:
        attn = additive(members["attn_mask"], dtype)
        mask = mask + (attn.reshape(N, H, L, S) if attn.dim() == 3 else attn)     # (N*H,L,S): item n, head h at n*H+h
    if "key_padding_mask" in members:
        mask = mask + additive(members["key_padding_mask"], dtype).reshape(N, 1, 1, S)
    return torch.cat([mask, torch.zeros(N, H, L, appended, dtype=dtype)], dim=3)


def projections(members, dtype):
    """arguments -> q_heads, k_heads, v_heads, and the merged mask"""
    m = {name: x.to(dtype) if torch.is_tensor(x) and x.is_floating_point() else x for name, x in members.items()}
    E, H = int(m["embed_dim"]), int(m["num_heads"])
    query, key, value = (canonical(m[name], m) for name in ("query", "key", "value"))
    N, L, S, D = query.shape[0], query.shape[1], key.shape[1], E // H
    t = {}

    if "in_proj_weight" in m:
        t["q_weight"], t["k_weight"], t["v_weight"] = torch.split(m["in_proj_weight"], [E, E, E])
    else:
        t["q_weight"], t["k_weight"], t["v_weight"] = m["q_proj_weight"], m["k_proj_weight"], m["v_proj_weight"]
    if "in_proj_bias" in m:
        t["q_bias"], t["k_bias"], t["v_bias"] = torch.split(m["in_proj_bias"], [E, E, E])
    t["q_weight_t"] = t["q_weight"].T
    t["k_weight_t"] = t["k_weight"].T
    t["v_weight_t"] = t["v_weight"].T

    t["q_proj"] = query @ t["q_weight_t"] + t.get("q_bias", 0)
    t["k_proj"] = key @ t["k_weight_t"] + t.get("k_bias", 0)
    t["v_proj"] = value @ t["v_weight_t"] + t.get("v_bias", 0)

    t["q_heads"] = t["q_proj"].reshape(N, L, H, D).transpose(1, 2)
    k_rows, v_rows, appended = [t["k_proj"]], [t["v_proj"]], 0
    if "bias_k" in m:
        k_rows.append(m["bias_k"].expand(N, 1, E))
        v_rows.append(m["bias_v"].expand(N, 1, E))
        appended += 1
    if m["add_zero_attn"]:
        k_rows.append(torch.zeros(N, 1, E, dtype=dtype))
        v_rows.append(torch.zeros(N, 1, E, dtype=dtype))
        appended += 1
    t["k_heads"] = torch.cat(k_rows, dim=1).reshape(N, S + appended, H, D).transpose(1, 2)
    t["v_heads"] = torch.cat(v_rows, dim=1).reshape(N, S + appended, H, D).transpose(1, 2)
    t["mask"] = merged_mask(m, N, H, L, S, appended, dtype)
    return t


def core(t):
    """heads and mask -> attn_weights, head_outputs"""
    t["scores"] = t["q_heads"] @ t["k_heads"].transpose(-1, -2) / math.sqrt(t["q_heads"].shape[-1])
    t["masked_scores"] = t["scores"] + t["mask"]
    t["attn_weights"] = torch.softmax(t["masked_scores"], dim=-1)
    t["head_outputs"] = t["attn_weights"] @ t["v_heads"]


def output(t, members):
    """head_outputs -> output"""
    N, H, L, D = t["head_outputs"].shape
    dtype = t["head_outputs"].dtype
    t["merged"] = t["head_outputs"].transpose(1, 2).reshape(N, L, H * D)
    t["output"] = t["merged"] @ members["out_proj.weight"].to(dtype).T
    if "out_proj.bias" in members:
        t["output"] = t["output"] + members["out_proj.bias"].to(dtype)
    t["attn_weights_mean"] = t["attn_weights"].mean(dim=1)


def zero_rows(t):
    """need_weights=False in PyTorch: a query that may attend to nothing gets weights of 0 in place of NaN"""
    closed = torch.isneginf(t["mask"]).all(dim=-1, keepdim=True)
    t["attn_weights"] = t["attn_weights"].masked_fill(closed, 0)
    t["head_outputs"] = t["head_outputs"].masked_fill(closed, 0)


def masked_ignored(t):
    """many kernels never read a key that no query of its head may see: its row counts as zero"""
    closed = torch.isneginf(t["mask"]).all(dim=-2).unsqueeze(-1)
    t["k_heads"] = t["k_heads"].masked_fill(closed, 0)
    t["v_heads"] = t["v_heads"].masked_fill(closed, 0)


BEFORE_CORE = {"masked_ignored": masked_ignored}
BEFORE_OUTPUT = {"zero_rows": zero_rows}
POLICIES = [*BEFORE_OUTPUT, *BEFORE_CORE]
CHANGED_BY_POLICY = ["masked_scores", "attn_weights", "head_outputs", "merged", "output", "attn_weights_mean"]


def forward(members, dtype=torch.float64, policy=None):
    """members: configuration, parameters and arguments under their names in the file. All stages, in order."""
    t = projections(members, dtype)
    if policy in BEFORE_CORE:
        BEFORE_CORE[policy](t)
    core(t)
    if policy in BEFORE_OUTPUT:
        BEFORE_OUTPUT[policy](t)
    output(t, members)
    return t
