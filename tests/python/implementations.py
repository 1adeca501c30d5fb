# SPDX-License-Identifier: MIT
"""Attention in numpy, right and wrong, for the tests beside it."""
import numpy as np

np.seterr(all="ignore")


def core(q_heads, k_heads, v_heads, mask, scale=None):
    scores = q_heads @ k_heads.swapaxes(-1, -2) * np.float32(scale or q_heads.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
    weights = weights / weights.sum(-1, keepdims=True)
    return weights @ v_heads, weights


def core_without_scale(q_heads, k_heads, v_heads, mask):
    return core(q_heads, k_heads, v_heads, mask, scale=1)


def core_in_bfloat16(q_heads, k_heads, v_heads, mask):
    """the heads are exact in bfloat16; what is returned is stored in it by the judge"""
    output, weights = core(q_heads, k_heads, v_heads, mask)
    return {"head_outputs": output, "attn_weights": weights}


def layer(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias,
          bias_k, bias_v, num_heads, add_zero_attn, attn_mask, key_padding_mask):
    N, L, E = query.shape
    b = np.zeros((3, E), np.float32) if in_proj_bias is None else in_proj_bias.reshape(3, E)
    q, k, v = query @ q_proj_weight.T + b[0], key @ k_proj_weight.T + b[1], value @ v_proj_weight.T + b[2]
    if bias_k is not None:
        k, v = (np.concatenate([x, np.broadcast_to(row, (N, 1, E))], 1) for x, row in ((k, bias_k), (v, bias_v)))
    if add_zero_attn:
        k, v = (np.concatenate([x, np.zeros((N, 1, E), np.float32)], 1) for x in (k, v))
    q, k, v = (x.reshape(N, x.shape[1], num_heads, E // num_heads).transpose(0, 2, 1, 3) for x in (q, k, v))
    mask = np.zeros((N, num_heads, L, k.shape[2]), np.float32)
    S = key.shape[1]
    added = lambda m: np.where(m, np.float32(-np.inf), np.float32(0)) if m.dtype == bool else m
    if attn_mask is not None:
        mask[..., :S] += added(attn_mask) if attn_mask.ndim == 2 else added(attn_mask).reshape(N, num_heads, L, S)
    if key_padding_mask is not None:
        mask[..., :S] += added(key_padding_mask)[:, None, None]
    output, weights = core(q, k, v, mask)
    output = output.transpose(0, 2, 1, 3).reshape(N, L, E) @ out_proj_weight.T
    return output if out_proj_bias is None else output + out_proj_bias, weights


def core_of_plain_cases(q_heads, k_heads, v_heads, mask):
    if mask is not None:
        raise NotImplementedError("no masks here")
    return core(q_heads, k_heads, v_heads, mask)
