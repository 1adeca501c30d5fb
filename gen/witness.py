# SPDX-License-Identifier: MIT
"""The real nn.MultiheadAttention as a witness, and what a vector must not be."""
import warnings

import numpy as np
import torch

from envelope import PROFILES, applies, envelope
from inputs import ARGUMENTS, PARAMETERS

warnings.filterwarnings("ignore", message="Support for mismatched key_padding_mask and attn_mask is deprecated")
OLD = torch.__version__.startswith("1.")


def module(members, dtype):
    """The module of a vector, its parameters loaded. Gradients stay on: that keeps it off the fast path."""
    m = torch.nn.MultiheadAttention(
        int(members["embed_dim"]), int(members["num_heads"]), float(members["dropout"]),
        bias="in_proj_bias" in members, add_bias_kv="bias_k" in members, add_zero_attn=bool(members["add_zero_attn"]),
        kdim=int(members["kdim"]), vdim=int(members["vdim"]), batch_first=bool(members["batch_first"]))
    m.load_state_dict({name: torch.from_numpy(members[name].copy()) for name in PARAMETERS if name in members})
    return m.to(dtype).eval()


def run(members, case, dtype, **options):
    """What the module returns, in the canonical layout."""
    t = {name: torch.from_numpy(members[name].copy()) for name in ARGUMENTS if name in members}
    t = {name: x.to(dtype) if x.is_floating_point() else x for name, x in t.items()}
    # identity, not equality, selects the branch of the projection
    if case.branch == "self":
        t["key"] = t["value"] = t["query"]
    elif case.branch == "encdec":
        t["value"] = t["key"]
    if members["is_causal"] and not OLD:
        options["is_causal"] = True
    y, w = module(members, dtype)(t.pop("query"), t.pop("key"), t.pop("value"), **t, **options)
    if case.layout == "unbatched":
        y, w = y[None], None if w is None else w[None]
    elif case.layout == "seq_first":
        y = y.transpose(0, 1)
    return y.detach().double().numpy(), None if w is None else w.detach().double().numpy()


def differences(name, got, golden, sigma, profile):
    """None or a sentence, and the errors beyond the floor in sigma. NaN and infinities are classes."""
    if got.shape != golden.shape:
        return f"{name}: shape {got.shape} in place of {golden.shape}", np.empty(0)
    finite = np.isfinite(golden)
    with np.errstate(invalid="ignore"):
        classes = np.where(finite, np.isfinite(got), (got == golden) | (np.isnan(got) & np.isnan(golden)))
        error = np.abs(got - golden)
    if not classes.all():
        return f"{name}: {np.sum(~classes)} elements are finite, NaN or infinite in only one of the two", np.empty(0)
    bad = finite & ~(error <= 8 * sigma + profile.floor)
    measured = finite & (sigma > 0)
    ratio = np.maximum(error[measured] - profile.floor, 0) / sigma[measured]
    if bad.any():
        return f"{name}: {bad.sum()} elements outside the {profile.name} envelope, worst {ratio.max(initial=0):.3g} sigma", ratio
    return None, ratio


def old_difference(members):
    """What PyTorch 1.13 is known to compute differently in this vector, or None."""
    attn, pad = members.get("attn_mask"), members.get("key_padding_mask")
    if attn is not None and pad is not None and pad.dtype != bool:
        return "ignores a float key_padding_mask beside a float attn_mask" if attn.dtype != bool else \
            "takes every number but 0 in a float key_padding_mask for masked, beside a bool attn_mask"
    return None


def check_module(case, members, stages, policies, sigma32):
    """Sentences about disagreement with the module in float64 and float32; the float32 errors in sigma."""
    wrong, ratios = [], []
    for profile, dtype in (PROFILES["float64"], torch.float64), (PROFILES["float32"], torch.float32):
        sigma = sigma32 if dtype == torch.float32 else envelope(stages, members, profile)
        y, w = run(members, case, dtype, average_attn_weights=False)
        y2, mean = run(members, case, dtype)
        for name, got in ("output", y), ("output", y2), ("attn_weights", w), ("attn_weights_mean", mean):
            sentence, ratio = differences(name, got, stages[name], sigma[name], profile)
            if sentence:
                wrong.append(f"module in {profile.name}: {sentence}")
            if dtype == torch.float32:
                ratios.append(ratio)
    if "zero_rows" in policies and not OLD:      # 1.13 has no such answer: NaN with need_weights=False too
        stages = policies["zero_rows"]
        y, _ = run(members, case, torch.float64, need_weights=False)
        sigma = envelope(stages, members, PROFILES["float64"])
        sentence, _ = differences("output", y, stages["output"], sigma["output"], PROFILES["float64"])
        if sentence:
            wrong.append(f"module with need_weights=False, zero_rows: {sentence}")
    if "masked_ignored" in policies:             # what no query sees may as well be 0
        stages = policies["masked_ignored"]
        clean = {k: np.where(np.isfinite(x), x, 0).astype(x.dtype) if k in ("key", "value") else x for k, x in members.items()}
        y, _ = run(clean, case, torch.float64)
        sigma = envelope(stages, members, PROFILES["float64"])
        sentence, _ = differences("output", y, stages["output"], sigma["output"], PROFILES["float64"])
        if sentence:
            wrong.append(f"module without NaN, masked_ignored: {sentence}")
    return wrong, np.concatenate(ratios)


# ---- refusals: what makes a vector blind ----

def _biases(members):
    if "in_proj_bias" in members:
        E = int(members["embed_dim"])
        for i, x in enumerate("qkv"):
            yield f"{x} part of in_proj_bias", members["in_proj_bias"][i * E:(i + 1) * E]
        yield "out_proj.bias", members["out_proj.bias"]
    if "bias_k" in members:
        yield "bias_k", members["bias_k"]
        yield "bias_v", members["bias_v"]


def blindness(members, stages, sigma32):
    """{kind: sentence} of all that keeps this vector from seeing mistakes."""
    found = {}
    for name, b in _biases(members):
        if not b.any():
            found["zero_bias"] = f"{name} is zero"
    for name in ("attn_mask", "key_padding_mask"):
        if name in members and members[name].size:
            m = members[name]
            if (m == m.flat[0]).all():
                found["constant_mask"] = f"{name} is the same everywhere"
    attn = members.get("attn_mask")
    if attn is not None and attn.ndim == 3 and len(np.unique(attn.reshape(len(attn), -1), axis=0)) < len(attn):
        found["equal_masks"] = "two pieces of attn_mask are equal"
    pad = members.get("key_padding_mask")
    if pad is not None and pad.ndim == 2 and len(np.unique(pad, axis=0)) < len(pad):
        found["equal_masks"] = "two items of key_padding_mask are equal"

    p, s = stages["attn_weights"], stages["masked_scores"]
    if p.size == 0:
        return {**found, "empty": "there are no weights"}
    for name in ("k_heads", "v_heads"):
        x = stages[name]
        if x.shape[2] > 1 and (x == x[:, :, :1]).all(axis=(2, 3)).any():
            found["constant_rows"] = f"{name} has the same row for every key"
    keys = np.isfinite(s).sum(-1)
    wide = (keys > 1) & np.isfinite(p).all(-1)
    if not wide.any():
        return {**found, "one_key": "no query may choose between two keys"}
    top, keys = p.max(-1)[wide], keys[wide]
    if np.mean(top * keys < 1.25) > 0.5:
        found["flat"] = "most weights are nearly equal"
    if np.mean(top > 0.99) > 0.5:
        found["one_hot"] = "most rows have one weight above 0.99"
    sentence = applies(stages, sigma32, PROFILES["float32"])
    if sentence:
        found["not_applicable"] = sentence
    return found


def check_blindness(case, found):
    wrong = [f"refused: {sentence} (because={{'{kind}': ...}} would allow it)" for kind, sentence in found.items() if kind not in case.because]
    return wrong + [f"because has '{kind}', which is not the case" for kind in case.because if kind not in found]
