# SPDX-License-Identifier: MIT
"""vectors/index.json: one vector a line, made from the files and the list alone."""
import hashlib
import json

import npz
from build import about, torch_of
from cases import CORPUS_VERSION


def files(vectors):
    return sorted(str(f.relative_to(vectors))[:-4] for f in vectors.glob("*/*.npz"))


def _flags(case, file):
    """What makes this vector special, in words to search for."""
    attn, pad = file.get("attn_mask"), file.get("key_padding_mask")
    named = {
        case.branch: True,
        case.layout: True,
        "separate_weights": "q_proj_weight" in file,
        "no_bias": not case.bias,
        "bias_kv": case.bias_kv,
        "zero_attn": case.zero_attn,
        "causal": case.is_causal,
        "dropout": case.dropout != 0,
    }
    flags = [name for name, here in named.items() if here]
    if attn is not None:
        flags.append(f"attn_mask_{'bool' if attn.dtype == bool else 'float'}_{attn.ndim}d")
    if pad is not None:
        flags.append(f"key_padding_mask_{'bool' if pad.dtype == bool else 'float'}")
    return flags


def _entry(vectors, case):
    data = (vectors / f"{case.name}.npz").read_bytes()
    file = npz.read(vectors / f"{case.name}.npz")
    Sx = file["attn_weights"].shape[3]
    return {
        "name": case.name, "category": case.name.split("/")[0],
        "shapes": dict(N=case.N, L=case.L, S=case.S, Sx=Sx, E=case.E, Ek=case.kdim or case.E, Ev=case.vdim or case.E, H=case.H, D=case.D),
        "flags": _flags(case, file),
        "policies": sorted({k.split(".")[1] for k in file if k.startswith("alt.")}),
        "off_grid": case.off_grid, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
        "torch": torch_of(file), "about": about(case), "catches": case.catches.split(),
        **({"because": case.because} if case.because else {}),
        **({"kills_nothing_because": case.kills_nothing} if case.kills_nothing else {}),
    }


def _text(vectors, cases):
    entries = [_entry(vectors, c) for c in sorted(cases, key=lambda c: c.name) if (vectors / f"{c.name}.npz").exists()]
    lines = "".join(sorted(f"{e['name']} {e['sha256']}\n" for e in entries))
    head = dict(format=1, corpus_version=CORPUS_VERSION, corpus_hash=hashlib.sha256(lines.encode()).hexdigest(),
                torch=max((e["torch"] for e in entries), default=""))
    top = "".join(f" {json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items())
    return "{\n" + top + ' "vectors": [\n' + ",\n".join("  " + json.dumps(e, ensure_ascii=False) for e in entries) + "\n ]\n}\n"


def write(vectors, cases):
    (vectors / "index.json").write_text(_text(vectors, cases), encoding="utf-8")


def check(vectors, cases):
    path = vectors / "index.json"
    if not path.exists():
        return ["index.json: missing"]
    stored, fresh = path.read_text(encoding="utf-8").splitlines(), _text(vectors, cases).splitlines()
    return [f"index.json: line {n} is stale" for n, (a, b) in enumerate(zip(stored, fresh), 1) if a != b] + \
        ([] if len(stored) == len(fresh) else [f"index.json: {len(stored)} lines in place of {len(fresh)}"])
