# SPDX-License-Identifier: MIT
"""Write the checkpoints of tests/checkpoints with real PyTorch, or check that they hold what it computes.

  python gen/checkpoints.py [--check]
  python gen/checkpoints.py --old       the file that only PyTorch 1.x can write; run it with that one

The records are made by the lines that docs/porting.md gives to everybody, taken from there.
"""
import argparse
import datetime
import json
import math
import re
import struct
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from torch import nn

import npz
from hashed import integers, normal

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "checkpoints"


# ---- models ----

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=16):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:x.size(0)]


class LanguageModel(nn.Module):
    """What PyTorch's tutorial on language modelling builds: its keys are those of the question."""
    def __init__(self, ntoken=17, d_model=24, nhead=3, d_hid=20, nlayers=2):
        super().__init__()
        self.pos_encoder = PositionalEncoding(d_model)
        self.transformer_encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model, nhead, d_hid), nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.linear = nn.Linear(d_model, ntoken)

    def forward(self, tokens, mask):
        x = self.pos_encoder(self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim))
        return self.linear(self.transformer_encoder(x, mask))


def fill(module, name):
    """Every parameter from the hash of its name; no bias is zero."""
    with torch.no_grad():
        for key, p in module.named_parameters():
            x = normal(name, key, tuple(p.shape))
            if p.dim() > 1:
                x = x * 1.3 / math.sqrt(p.shape[-1])
            else:
                x = x * 0.25 + (1 if "norm" in key and key.endswith("weight") else 0)
            p.copy_(torch.from_numpy(x))
    return module.eval()


def tensor(name, what, *shape):
    return torch.from_numpy(normal(name, what, shape)).float()


def language_model():
    return fill(LanguageModel(), "lm")


# ---- records ----

def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.M | re.S)


def recorder():
    """record(), as docs/porting.md has it."""
    code = next(b for b in blocks(ROOT / "docs" / "porting.md", "python") if "def record" in b)
    names = {}
    exec(code.split("\nmodel.eval()")[0], names)
    return names["record"]


def write_record(out, name, attention, call):
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "io.npz"
        recorder()(attention, path)
        call()
        io = npz.read(path)
    wide = {k: a.astype("<f4") if a.dtype == np.float16 else a for k, a in io.items()}
    npz.write(out / f"{name}.io.npz", {k: a if a.ndim or a.dtype != bool else a.astype("<i8") for k, a in wide.items()})


# ---- files ----

def save(out, name, what, **options):
    torch.save(what, out / name, **options)


def lm(out):
    model = language_model()
    save(out, "lm.pt", model.state_dict())
    tokens = torch.from_numpy(integers("lm", "tokens", (6, 2), 0, 16))
    mask = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)
    write_record(out, "lm", model.transformer_encoder.layers[0].self_attn, lambda: model(tokens, mask))
    return model


def legacy(out, model):
    """The keys of its storages are addresses, so every run writes other bytes: a file of the same numbers is kept."""
    path = out / "legacy.pt"
    kept = path.read_bytes() if path.exists() else b""
    torch.save(model.state_dict(), path, _use_new_zipfile_serialization=False)
    if kept:
        fresh = torch.load(path)
        path.write_bytes(kept)
        if not same_tensors(torch.load(path), fresh):
            torch.save(model.state_dict(), path, _use_new_zipfile_serialization=False)


def nested(out):
    """A whole training run: DataParallel's prefix, an optimizer that has made a step, plain values."""
    model = nn.DataParallel(fill(nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 2, 8, batch_first=True), 1), "nested"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.module(tensor("nested", "x", 2, 3, 12)).square().sum().backward()
    optimizer.step()
    fill(model.module, "nested")
    save(out, "nested.pt", {
        "epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "loss": 0.125, "best": None,
        "args": {"lr": 1e-3, "name": "a run", "sizes": (12, 2), "amp": False, "dtype": torch.float32, "seed": 1 << 40},
        "history": [1.5, 0.75, 0.125], "shape": torch.Size([2, 3, 12]), "steps": torch.tensor(7),
        "parameter": nn.Parameter(torch.arange(3.0)),
    }, pickle_protocol=4)


def encoder(out):
    model = fill(nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 3, 8, batch_first=True), 2), "encoder")
    save(out, "encoder.pt", model.state_dict())
    npz.write(out / "encoder.npz", {k: v.numpy() for k, v in model.state_dict().items()})
    padding = torch.zeros(3, 5, dtype=torch.bool)
    padding[1, 3:] = padding[2, 4:] = True
    write_record(out, "encoder", model.layers[1].self_attn,
                 lambda: model(tensor("encoder", "x", 3, 5, 12), src_key_padding_mask=padding))


def decoder(out):
    model = fill(nn.TransformerDecoder(nn.TransformerDecoderLayer(12, 3, 8), 1), "decoder")
    save(out, "decoder.pt", model.state_dict())
    write_record(out, "decoder", model.layers[0].multihead_attn,
                 lambda: model(tensor("decoder", "target", 4, 2, 12), tensor("decoder", "memory", 7, 2, 12)))


def transformer(out):
    save(out, "transformer.pt", fill(nn.Transformer(8, 2, 1, 1, 6), "transformer").state_dict())


def separate(out):
    """kdim and vdim of their own, bias_k and bias_v, a row of zeros; no bias in the second."""
    attn = fill(nn.MultiheadAttention(12, 3, add_bias_kv=True, add_zero_attn=True, kdim=10, vdim=14, batch_first=True), "separate")
    same = fill(nn.MultiheadAttention(12, 2, bias=False, kdim=8, vdim=8), "separate/same")
    save(out, "separate.pt", {**{"first." + k: v for k, v in attn.state_dict().items()},
                              **{"second." + k: v for k, v in same.state_dict().items()}})
    x = [tensor("separate", n, 2, t, e) for n, t, e in (("query", 4, 12), ("key", 5, 10), ("value", 5, 14))]
    write_record(out, "separate", attn, lambda: attn(*x))
    y = [tensor("separate/same", n, t, e) for n, t, e in (("query", 4, 12), ("key", 5, 8), ("value", 5, 8))]
    write_record(out, "separate_same", same, lambda: same(*y))


def types(out):
    """One layer in each precision."""
    state = {}
    for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16), ("f32", torch.float32), ("f64", torch.float64)):
        attn = fill(nn.MultiheadAttention(12, 3, batch_first=True), "types").to(dtype)
        state.update({f"{name}.{k}": v for k, v in attn.state_dict().items()})
        x = tensor("types", "x", 2, 5, 12).to(dtype)
        write_record(out, f"types.{name}", attn, lambda: attn(x, x, x))
    state["counter"] = torch.arange(4)
    state["flags"] = torch.tensor([True, False])
    save(out, "types.pt", state)


def views(out):
    """Storages that are shared, with offsets and strides: one flat buffer, transposed and sliced views."""
    attn = fill(nn.MultiheadAttention(12, 3, batch_first=True), "views")
    flat = torch.zeros(5 + 36 * 12 + 36 + 3)
    weight, bias = flat[5:5 + 36 * 12].view(36, 12), flat[5 + 36 * 12:5 + 36 * 12 + 36]
    weight.copy_(attn.in_proj_weight.detach())
    bias.copy_(attn.in_proj_bias.detach())
    wide = torch.zeros(24, 12)
    wide[::2] = attn.out_proj.weight.detach().t()
    constant = torch.tensor([0.5]).expand(12)
    with torch.no_grad():
        attn.out_proj.bias.copy_(constant)
    state = {"in_proj_weight": weight, "in_proj_bias": bias, "out_proj.weight": wide[::2].t(), "out_proj.bias": constant}
    save(out, "views.pt", {**{"a." + k: v for k, v in state.items()}, **{"tied." + k: v for k, v in state.items()}, "flat": flat})
    x = tensor("views", "x", 2, 5, 12)
    write_record(out, "views", attn, lambda: attn(x, x, x))


def packed_as(weight, bias, turns, H):
    """PyTorch's q, k, v rows in another order of turns: (3,H,D) -> (H,3,D) or (H,D,3)."""
    axes = {"head": (1, 0, 2), "element": (1, 2, 0)}[turns]
    E = weight.shape[1]
    w = weight.reshape(3, H, E // H, E).permute(*axes, 3).reshape(3 * E, E)
    b = bias.reshape(3, H, E // H).permute(*axes).reshape(3 * E)
    return w.contiguous(), b.contiguous()


def foreign(out):
    """The same layer under the names and in the layouts of other programs."""
    attn = fill(nn.MultiheadAttention(12, 3, batch_first=True), "foreign")
    w, b, ow, ob = (p.detach() for p in (attn.in_proj_weight, attn.in_proj_bias, attn.out_proj.weight, attn.out_proj.bias))
    state = {}
    for prefix, names, turns in (("megatron.layers.0.attention", ("query_key_value", "dense"), "head"),
                                 ("megatron1.layers.0.attention", ("query_key_value", "dense"), "element")):
        weight, bias = packed_as(w, b, turns, 3)
        state.update({f"{prefix}.{names[0]}.weight": weight, f"{prefix}.{names[0]}.bias": bias,
                      f"{prefix}.{names[1]}.weight": ow, f"{prefix}.{names[1]}.bias": ob})
    state.update({"timm.blocks.0.attn.qkv.weight": w, "timm.blocks.0.attn.qkv.bias": b,
                  "timm.blocks.0.attn.proj.weight": ow, "timm.blocks.0.attn.proj.bias": ob})
    state.update({"gpt2.h.0.attn.c_attn.weight": w.t().contiguous(), "gpt2.h.0.attn.c_attn.bias": b,
                  "gpt2.h.0.attn.c_proj.weight": ow.t().contiguous(), "gpt2.h.0.attn.c_proj.bias": ob})
    blocks_in_out = torch.cat([block.t() for block in w.split(12)]).contiguous()
    state.update({"blocks.in_proj_weight": blocks_in_out, "blocks.in_proj_bias": b, "blocks.out_proj.weight": ow, "blocks.out_proj.bias": ob})
    k_first = torch.cat([w[12:24], w[:12], w[24:]]), torch.cat([b[12:24], b[:12], b[24:]])
    state.update({"kqv.in_proj_weight": k_first[0], "kqv.in_proj_bias": k_first[1], "kqv.out_proj.weight": ow, "kqv.out_proj.bias": ob})
    for name, part in zip("qkv", range(3)):
        state[f"llama.self_attn.{name}_proj.weight"] = w[12 * part:12 * part + 12].clone()
        state[f"llama.self_attn.{name}_proj.bias"] = b[12 * part:12 * part + 12].clone()
    state.update({"llama.self_attn.o_proj.weight": ow, "llama.self_attn.o_proj.bias": ob})
    save(out, "foreign.pt", state)
    x = tensor("foreign", "x", 2, 5, 12)
    write_record(out, "foreign", attn, lambda: attn(x, x, x))
    one = tensor("foreign", "one", 2, 1, 12)
    write_record(out, "foreign_one_key", attn, lambda: attn(x, one, one))


def grouped_layer(x, w, b, H, G):
    """Grouped queries as Llama computes them: rotary positions in halves, base 10000, a causal mask."""
    N, L, E = x.shape
    D = w["o"].shape[1] // H
    heads = [(x @ w[s].t() + b[s]).view(N, L, n, D).transpose(1, 2) for s, n in (("q", H), ("k", G), ("v", G))]
    angle = torch.arange(L, dtype=torch.float)[:, None] * 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float) / D)
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    q, k = (t * cos + torch.cat([-t[..., D // 2:], t[..., :D // 2]], -1) * sin for t in heads[:2])
    k, v = (t.repeat_interleave(H // G, 1) for t in (k, heads[2]))
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(D) + torch.full((L, L), -math.inf).triu(1)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(N, L, H * D) @ w["o"].t()


def grouped(out):
    """One layer with 4 query heads and 2 key heads under the names and in the layouts of other programs."""
    E, H, G, D = 16, 4, 2, 4
    w = {s: tensor("grouped", s, rows, E) / 2 for s, rows in (("q", H * D), ("k", G * D), ("v", G * D), ("o", E))}
    b = {s: tensor("grouped", s + "_bias", w[s].shape[0]) / 4 for s in "qkv"}
    none = {s: torch.zeros_like(b[s]) for s in "qkv"}
    by_group = torch.cat([torch.cat([w["q"].view(G, H // G * D, E)[g], w["k"].view(G, D, E)[g], w["v"].view(G, D, E)[g]]) for g in range(G)])
    state = {}
    for prefix, names in (("llama", "q_proj k_proj v_proj o_proj"), ("meta", "wq wk wv wo"), ("exaone", "q_proj k_proj v_proj out_proj"),
                          ("mine", "ask look take give"), ("t5", "q k v o")):
        state.update({f"{prefix}.{name}.weight": w[s] for s, name in zip("qkvo", names.split())})
    for prefix, biases in (("qwen", b), ("mixed", {**b, "v": torch.zeros(3)})):
        state.update({f"{prefix}.{s}_proj.weight": w[s] for s in "qkvo"})
        state.update({f"{prefix}.{s}_proj.bias": biases[s] for s in "qkv"})
    state.update({"phi3.qkv_proj.weight": torch.cat([w[s] for s in "qkv"]), "phi3.o_proj.weight": w["o"]})
    state.update({"internlm.wqkv.weight": by_group, "internlm.wo.weight": w["o"]})
    state.update({"falcon.query_key_value.weight": by_group, "falcon.dense.weight": w["o"]})
    state.update({"one.q_proj.weight": w["q"], "one.k_proj.weight": w["k"][:D], "one.v_proj.weight": w["v"][:D], "one.o_proj.weight": w["o"]})
    state.update({"uneven.q_proj.weight": w["q"], "uneven.k_proj.weight": w["q"], "uneven.v_proj.weight": w["v"], "uneven.o_proj.weight": w["o"]})
    state.update({"normed.q_norm.weight": tensor("grouped", "q_norm", D), **{f"normed.{s}_proj.weight": w[s] for s in "qkvo"}})
    save(out, "grouped.pt", {k: v.clone() for k, v in state.items()})
    x = tensor("grouped", "x", 2, 5, E)
    for name, biases in (("grouped", none), ("grouped_bias", b)):
        npz.write(out / f"{name}.io.npz", {"query": x.numpy(), "output": grouped_layer(x, w, biases, H, G).numpy(), "batch_first": np.array(1)})


def kinds(out):
    """Biases beside a packed weight, shards, names of TensorFlow; each is the layer of foreign.pt."""
    attn = fill(nn.MultiheadAttention(12, 3, batch_first=True), "foreign")
    w, b, ow, ob = (p.detach() for p in (attn.in_proj_weight, attn.in_proj_bias, attn.out_proj.weight, attn.out_proj.bias))
    ranks = fill(nn.MultiheadAttention(12, 4, batch_first=True), "ranks")
    by_rank = [torch.cat([torch.cat([p[s * 12 + r * 6:s * 12 + r * 6 + 6] for s in (0, 2, 1)]) for r in range(2)])
               for p in (ranks.in_proj_weight.detach(), ranks.in_proj_bias.detach())]
    state = {"beit.qkv.weight": w, "beit.q_bias": b[:12], "beit.v_bias": b[24:], "beit.proj.weight": ow, "beit.proj.bias": ob,
             "beit.relative_position_bias_table": tensor("kinds", "table", 5, 3),
             "dino.qkv.weight": w, "dino.qkv.bias": b, "dino.qkv.bias_mask": torch.ones(36), "dino.proj.weight": ow, "dino.proj.bias": ob,
             "ranks.qkv_proj.weight": by_rank[0], "ranks.qkv_proj.bias": by_rank[1],
             **{f"ranks.{k}": v for k, v in ranks.state_dict().items() if "out_proj" in k},
             **{f"plain.{k}": v for k, v in ranks.state_dict().items()}}
    save(out, "kinds.pt", {k: v.clone() for k, v in state.items()})
    x = tensor("kinds", "x", 2, 5, 12)
    write_record(out, "ranks", ranks, lambda: ranks(x, x, x))
    tf = {}
    for s, name in zip(range(3), ("query", "key", "value")):
        tf[f"bert/attention/self/{name}/kernel"] = w[12 * s:12 * s + 12].t().contiguous().numpy()
        tf[f"bert/attention/self/{name}/bias"] = b[12 * s:12 * s + 12].numpy()
        tf[f"vit/attention/{name}/kernel"] = w[12 * s:12 * s + 12].t().reshape(12, 3, 4).contiguous().numpy()
        tf[f"vit/attention/{name}/bias"] = b[12 * s:12 * s + 12].reshape(3, 4).numpy()
    tf.update({"bert/attention/output/dense/kernel": ow.t().contiguous().numpy(), "bert/attention/output/dense/bias": ob.numpy(),
               "vit/attention/out/kernel": ow.t().reshape(3, 4, 12).contiguous().numpy(), "vit/attention/out/bias": ob.numpy()})
    npz.write(out / "tensorflow.npz", tf)


def training(out):
    """A training run with objects beside the tensors. Written by hand in order, so that it is the same everywhere."""
    attn = fill(nn.MultiheadAttention(8, 2), "training")
    save(out, "training.pt", {
        "args": argparse.Namespace(lr=1e-3, out=PurePosixPath("/runs")), "model": attn.state_dict(), "loss": np.float64(0.5),
        "losses": [np.float32(0.25)], "curve": np.arange(3.0), "seen": {1, 2}, "started": datetime.datetime(2020, 1, 2), "state": defaultdict(dict, {0: {}}),
    })


def sharded(out, model):
    """Two .safetensors and their index: the layer lies in both."""
    state = dict(model.state_dict())
    files = ({}, {})
    for number, key in enumerate(state):
        files[number % 2][key] = state[key]
    names = [f"sharded-{k}-of-2.safetensors" for k in (1, 2)]
    for name, tensors in zip(names, files):
        header, data = {}, b""
        for key, value in tensors.items():
            raw = value.numpy().astype("<f4").tobytes()
            header[key] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        (out / name).write_bytes(struct.pack("<Q", len(text)) + text + data)
    where = {key: name for name, tensors in zip(names, files) for key in tensors}
    (out / "sharded.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}, indent=1) + "\n")


def symmetric(out):
    """Weights that are their own transposes: no record tells how they are stored."""
    attn = fill(nn.MultiheadAttention(6, 2, batch_first=True), "symmetric")
    with torch.no_grad():
        for block in attn.in_proj_weight.split(6):
            block.copy_((block + block.t()) / 2)
    save(out, "symmetric.pt", attn.state_dict())
    x = tensor("symmetric", "x", 2, 4, 6)
    write_record(out, "symmetric", attn, lambda: attn(x, x, x))


def safetensors(out, model):
    """By hand: 8 bytes of length, JSON, the numbers without gaps."""
    kinds = {torch.float32: ("F32", "<f4"), torch.float16: ("F16", "<f2"), torch.float64: ("F64", "<f8")}
    header, data, state = {"__metadata__": {"format": "pt"}}, b"", dict(model.state_dict())
    first = "transformer_encoder.layers.0."
    for key, value in state.items():
        dtype = torch.float64 if "linear" in key else torch.float16 if key == "embedding.weight" else torch.float32
        kind, numpy_type = kinds[dtype]
        raw = value.to(dtype).numpy().astype(numpy_type).tobytes()
        if key.startswith(first + "norm"):
            kind, raw = "BF16", value.to(torch.bfloat16).view(torch.int16).numpy().astype("<i2").tobytes()
        header[key] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (out / "lm.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_all(out):
    model = lm(out)
    legacy(out, model)
    safetensors(out, model)
    sharded(out, model)
    for make in (grouped, kinds, training, nested, encoder, decoder, transformer, separate, types, views, foreign, symmetric):
        make(out)


# ---- check ----

def flat(value, prefix=""):
    for key, v in value.items():
        if isinstance(v, dict):
            yield from flat(v, f"{prefix}{key}.")
        elif isinstance(v, torch.Tensor):
            yield f"{prefix}{key}", v


def same_tensors(a, b):
    """The table of sines may differ in its last bits from one PyTorch to another."""
    return list(a) == list(b) and all(
        a[k].dtype == b[k].dtype and (torch.allclose(a[k], b[k], atol=1e-6) if k.endswith("pe") else torch.equal(a[k], b[k])) for k in a)


def same_numbers(a, b):
    """Recorded outputs may differ from one machine's float arithmetic to another's."""
    return a.shape == b.shape and a.dtype == b.dtype and (np.array_equal(a, b) or np.abs(a - b).max() <= 2e-2 * np.abs(a).max())


def compare(kept, fresh):
    if kept.suffix == ".pt":
        a, b = (dict(flat(torch.load(p, weights_only=False))) for p in (kept, fresh))
        return same_tensors(a, b)
    if kept.suffix == ".npz":
        a, b = npz.read(kept), npz.read(fresh)
        return list(a) == list(b) and all(same_numbers(a[k], b[k]) for k in a)
    return kept.read_bytes() == fresh.read_bytes()


def check():
    wrong = []
    with tempfile.TemporaryDirectory() as place:
        write_all(Path(place))
        for fresh in sorted(Path(place).iterdir()):
            if not (KEPT / fresh.name).exists() or not compare(KEPT / fresh.name, fresh):
                wrong.append(fresh.name)
    if not same_tensors(torch.load(KEPT / "lm_1.13.pt"), language_model().state_dict()):
        wrong.append("lm_1.13.pt")
    total = sum(p.stat().st_size for p in KEPT.iterdir() if p.is_file())
    if total > 600_000:
        wrong.append(f"{total} bytes together, wanted at most 600000")
    if wrong:
        raise SystemExit("not what this PyTorch makes: " + ", ".join(wrong))
    print(f"{total} bytes, as PyTorch {torch.__version__} makes them")


def main():
    warnings.simplefilter("ignore")    # of nested tensors, which these models do not use
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--old", action="store_true")
    args = parser.parse_args()
    if args.old:
        save(KEPT, f"lm_{'.'.join(torch.__version__.split('.')[:2])}.pt", language_model().state_dict())
    elif args.check:
        check()
    else:
        write_all(KEPT)


if __name__ == "__main__":
    main()
