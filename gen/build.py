# SPDX-License-Identifier: MIT
"""A case -> everything that its file holds; and two such files compared."""
import re

import numpy as np
import torch

import inputs
import npz
import recipe
import trained
from envelope import PROFILES, envelope
from witness import differences

TORCH = torch.__version__.split("+")[0]
MADE_BY = ("PyTorch {torch}, float64, one op a line (gen/recipe.py), from the stored inputs; equal to "
           "torch.nn.MultiheadAttention on its slow path with need_weights=True, averaged and per head.{more}")
SIGMAS = ["output", "attn_weights", "attn_weights_mean"]
ONLY_SMALL = [f"{x}_{what}" for what in ("weight", "bias", "weight_t") for x in "qkv"]    # where E <= 32
BRIEF = 4000                     # numbers of a result that a brief file still holds; output is always there
INPUTS = [*inputs.configuration(inputs.Case("", "")), *inputs.PARAMETERS, *inputs.ARGUMENTS]


def stages_of(members, policy=None, dtype=torch.float64):
    t = {k: torch.from_numpy(v.copy()) if k in INPUTS and v.ndim else v for k, v in members.items() if k in INPUTS}
    return {k: v.detach().contiguous().double().numpy() for k, v in recipe.forward(t, dtype, policy).items()}


def policies_of(members, stages):
    """The policies under which this vector has another legitimate answer."""
    closed = np.isneginf(stages["mask"])
    found = []
    if closed.size and closed.all(axis=-1).any():
        found.append("zero_rows")
    S = stages["k_proj"].shape[1]
    hidden = closed.all(axis=(1, 2))[:, :S] if closed.size else np.zeros((closed.shape[0], S), bool)
    for name in ("key", "value"):
        x = members[name]
        x = x[None] if x.ndim == 2 else x if members["batch_first"] else x.swapaxes(0, 1)
        if "masked_ignored" not in found and (hidden & ~np.isfinite(x).all(axis=-1)).any():
            found.append("masked_ignored")
    return found


def members_of(case, stored=None):
    """Trained parameters are somebody else's: once stored they are taken from the file."""
    if not case.trained:
        return inputs.members(case)
    if stored is not None:
        return {k: v for k, v in stored.items() if k in INPUTS}
    return trained.members(case)


def about(case):
    parts = [case.why]
    if case.version:
        parts.append(case.version)
    return " ".join(parts)


def _short(sigma):
    """14 significant bits: a tolerance needs no more, and the rest would be a tenth of the corpus."""
    m, e = np.frexp(sigma)
    return np.ldexp(np.rint(m * 2.0 ** 14), e - 14)


def _kept(case, members, stages):
    """The stages that the file holds. The reference computes what is absent."""
    if case.brief:
        return [k for k in SIGMAS if k == "output" or stages[k].size <= BRIEF]
    return [k for k in stages if int(members["embed_dim"]) <= 32 or k not in ONLY_SMALL]


def build(case, stored=None):
    """(file, stages, {policy: stages}, float32 sigmas of all stages)"""
    file = members_of(case, stored)
    members = dict(file)
    stages = stages_of(members)
    sigma = envelope(stages, members, PROFILES["float32"])
    policies = {name: stages_of(members, name) for name in policies_of(members, stages)}

    kept = _kept(case, members, stages)
    shown = [k for k in SIGMAS if k in kept]
    file.update({k: stages[k] for k in kept})
    for name, alt in policies.items():
        file.update({f"alt.{name}.{k}": alt[k] for k in recipe.CHANGED_BY_POLICY if k in kept})
        alt_sigma = envelope(alt, members, PROFILES["float32"])
        file.update({f"alt.{name}.sigma.{k}": _short(alt_sigma[k]) for k in shown})
    file.update({f"sigma.{k}": _short(sigma[k]) for k in shown})
    file["about"] = npz.from_text(about(case))
    file["made_by"] = npz.from_text(MADE_BY.format(torch=TORCH, more=" " + trained.SOURCE if case.trained else ""))
    return file, stages, policies, sigma


def torch_of(file):
    return re.match(r"PyTorch (\S+),", npz.text(file["made_by"])).group(1)


def compare(stored, fresh, stages, policies, published=False):
    """Sentences: where a stored file is not what it should be. Stages may differ by float64 rounding."""
    missing, extra = [k for k in fresh if k not in stored], [k for k in stored if k not in fresh]
    if missing or extra:
        return [f"members missing: {', '.join(missing) or 'none'}; members too many: {', '.join(extra) or 'none'}"]
    if list(stored) != list(fresh):
        return ["members are in another order"]
    wrong = []
    members = {k: v for k, v in fresh.items() if k in INPUTS}
    sigma = {"": envelope(stages, members, PROFILES["float64"])}
    for name, alt in policies.items():
        sigma[f"alt.{name}."] = envelope(alt, members, PROFILES["float64"])
    for name, want in fresh.items():
        got = stored[name]
        prefix = re.match(r"(alt\.[a-z_]+\.)?", name).group(0)
        stage = name[len(prefix):]
        if name == "made_by":
            if npz.text(got) != npz.text(want).replace(TORCH, torch_of(stored), 1):
                wrong.append("made_by: another text")
        elif got.dtype != want.dtype or got.shape != want.shape:
            wrong.append(f"{name}: {got.dtype.str} {got.shape} in place of {want.dtype.str} {want.shape}")
        elif stage.startswith("sigma."):
            # Published files keep the envelope of their time, which knew fewer errors in common (tests/unit/test_agreement.c).
            if not (0.9 * got <= want).all() or not (published or np.allclose(got, want, rtol=4e-6, atol=0)):
                wrong.append(f"{name}: not the envelope of these stages")
        elif stage in sigma[prefix]:
            sentence, _ = differences(name, got, want, sigma[prefix][stage], PROFILES["float64"])
            wrong += [sentence] if sentence else []
        elif not np.array_equal(got, want, equal_nan=got.dtype.kind == "f"):
            wrong.append(f"{name}: another {'text' if name == 'about' else 'value'}")
    return wrong
