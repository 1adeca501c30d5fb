# SPDX-License-Identifier: MIT
"""vectors/index.json: one vector a line, made from the files, the list of cases and the lists of published versions.

A version of the corpus is published once vectors/corpus-VERSION.sha256 lists its files. Their bytes never change again.
"""
import hashlib
import json

import npz
from build import about, torch_of
from cases import CORPUS_VERSION


def published(vectors):
    """{version: {name: sha256}} of every published version, oldest first"""
    found = {}
    for path in vectors.glob("corpus-*.sha256"):
        lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
        found[path.stem.removeprefix("corpus-")] = {name.removesuffix(".npz"): digest for digest, name in lines}
    return dict(sorted(found.items(), key=lambda item: [int(n) for n in item[0].split(".")]))


def since(name, versions):
    """The first version that has this vector: a published one, or the next."""
    return next((version for version, hashes in versions.items() if name in hashes), CORPUS_VERSION)


def publish(vectors):
    """Write the list of the version in CORPUS_VERSION from index.json: from now on its files stay as they are."""
    path = vectors / f"corpus-{CORPUS_VERSION}.sha256"
    if path.exists():
        raise SystemExit(f"generate: {path.name} exists: version {CORPUS_VERSION} is published already")
    entries = json.loads((vectors / "index.json").read_text(encoding="utf-8"))["vectors"]
    path.write_text("".join(f"{e['sha256']}  {e['name']}.npz\n" for e in entries), encoding="utf-8")


def check_published(vectors, cases):
    """Sentences: published files that are missing or altered, and vectors added to a published version."""
    wrong, versions = [], published(vectors)
    for version, hashes in versions.items():
        for name, digest in hashes.items():
            path = vectors / f"{name}.npz"
            if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                wrong.append(f"{name}: {'altered' if path.exists() else 'missing'}, but published in corpus {version}")
    if CORPUS_VERSION in versions:
        wrong += [f"{c.name}: corpus {CORPUS_VERSION} is published without it: raise CORPUS_VERSION in gen/cases.py"
                  for c in cases if c.name not in versions[CORPUS_VERSION]]
    return wrong


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
        "brief": case.brief,
    }
    flags = [name for name, here in named.items() if here]
    if attn is not None:
        flags.append(f"attn_mask_{'bool' if attn.dtype == bool else 'float'}_{attn.ndim}d")
    if pad is not None:
        flags.append(f"key_padding_mask_{'bool' if pad.dtype == bool else 'float'}")
    return flags


def _entry(vectors, case, versions):
    data = (vectors / f"{case.name}.npz").read_bytes()
    file = npz.read(vectors / f"{case.name}.npz")
    Sx = case.S + case.bias_kv + case.zero_attn
    return {
        "name": case.name, "category": case.name.split("/")[0], "since": since(case.name, versions),
        "shapes": dict(N=case.N, L=case.L, S=case.S, Sx=Sx, E=case.E, Ek=case.kdim or case.E, Ev=case.vdim or case.E, H=case.H, D=case.D),
        "flags": _flags(case, file),
        "policies": sorted({k.split(".")[1] for k in file if k.startswith("alt.")}),
        "off_grid": case.off_grid, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
        "torch": torch_of(file), "about": about(case), "catches": [] if case.brief else case.catches.split(),    # mistakes are tried on complete files alone
        **({"because": case.because} if case.because else {}),
        **({"kills_nothing_because": case.kills_nothing} if case.kills_nothing else {}),
    }


def _hash(entries):
    lines = "".join(sorted(f"{e['name']} {e['sha256']}\n" for e in entries))
    return hashlib.sha256(lines.encode()).hexdigest()


def _text(vectors, cases):
    versions = published(vectors)
    entries = [_entry(vectors, c, versions) for c in sorted(cases, key=lambda c: c.name) if (vectors / f"{c.name}.npz").exists()]
    names = list(dict.fromkeys([*versions, CORPUS_VERSION]))
    had = {v: [e for e in entries if names.index(e["since"]) <= n] for n, v in enumerate(names)}
    head = dict(format=1, corpus_version=CORPUS_VERSION, corpus_hash=_hash(entries), torch=max((e["torch"] for e in entries), default=""),
                versions=[dict(version=v, vectors=len(of), hash=_hash(of)) for v, of in had.items()])
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
