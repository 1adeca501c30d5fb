# SPDX-License-Identifier: MIT
"""Execute the conversions of docs/porting.md and judge each by the program's own formula.

The formulas are written out here as the other programs write them (einsum over their own shapes), so that a
conversion is right only if it reproduces the golden output of a vector.

  python gen/porting.py        needs numpy alone; where Flax, Keras (on JAX) or ONNX Runtime is installed, it judges too
  python gen/porting.py --write PATH/TO/qkvec        print what that program prints into the console blocks of both pages
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import npz

ROOT = Path(__file__).resolve().parent.parent


def attention(q, k, v):
    """(N,T,H,D) each -> (N,T,H,D)"""
    scores = np.einsum("nihd,njhd->nhij", q, k) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("nhij,njhd->nihd", p / p.sum(axis=-1, keepdims=True), v)


def merged(heads):
    return heads.reshape(*heads.shape[:2], -1)


def keras(x, n):
    """EinsumDense and DenseGeneral: abc,cde->abde, and back over two axes."""
    q, k, v = (np.einsum("nti,ihd->nthd", x, n[f"keras_{s}"]) + n[f"keras_{s}_bias"] for s in ("query", "key", "value"))
    return np.einsum("nthd,hdo->nto", attention(q, k, v), n["keras_output"]) + n["bo"]


def columns(x, n, weight, out):
    """Conv1D and the operator of ONNX Runtime: x @ W + b, then three parts of the last axis."""
    H = n["H"]
    q, k, v = (part.reshape(*x.shape[:2], H, -1) for part in np.split(x @ weight + n["b"], 3, axis=-1))
    return merged(attention(q, k, v)) @ out + n["bo"]


def timm(x, n):
    """qkv(x).reshape(B, N, 3, H, D).permute(2, 0, 3, 1, 4)"""
    qkv = (x @ n["timm_qkv"].T + n["b"]).reshape(*x.shape[:2], 3, n["H"], -1)
    return merged(attention(*(qkv[:, :, s] for s in range(3)))) @ n["Wo"].T + n["bo"]


def megatron(x, n):
    """view(..., H, 3 * D), then three parts of the last axis"""
    qkv = (x @ n["megatron_qkv"].T + n["megatron_qkv_bias"]).reshape(*x.shape[:2], n["H"], -1)
    return merged(attention(*np.split(qkv, 3, axis=-1))) @ n["Wo"].T + n["bo"]


def megatron1(x, n):
    """version 1.0: (H, D, 3) becomes (H, 3, D) first"""
    qkv = (x @ n["megatron1_qkv"].T + n["megatron1_qkv_bias"]).reshape(*x.shape[:2], n["H"], -1, 3)
    return merged(attention(*(qkv[..., s] for s in range(3)))) @ n["Wo"].T + n["bo"]


FORMULAS = {
    "keras": keras, "timm": timm, "megatron": megatron, "megatron1": megatron1,
    "gpt2": lambda x, n: columns(x, n, n["gpt2_c_attn"], n["gpt2_c_proj"]),
    "ort": lambda x, n: columns(x, n, n["ort_weights"], n["Wo"].T),
}


# ---- the programs themselves, where they are installed ----

def real_flax(x, n):
    import flax.linen
    import jax
    jax.config.update("jax_enable_x64", True)
    module = flax.linen.MultiHeadDotProductAttention(num_heads=n["H"], dtype=float, param_dtype=float)
    params = {s: {"kernel": n[f"keras_{s}"], "bias": n[f"keras_{s}_bias"]} for s in ("query", "key", "value")}
    params["out"] = {"kernel": n["keras_output"], "bias": n["bo"]}
    return np.asarray(module.apply({"params": params}, x, x))


def real_keras(x, n):
    os.environ.setdefault("KERAS_BACKEND", "jax")
    import keras
    layer = keras.layers.MultiHeadAttention(num_heads=n["H"], key_dim=n["D"])
    layer(x, x)
    layer.set_weights([n[f"keras_{s}{what}"] for s in ("query", "key", "value") for what in ("", "_bias")] + [n["keras_output"], n["bo"]])
    return np.asarray(layer(x, x))


def real_ort(x, n):
    import onnxruntime
    from onnx import helper
    values = {"w": n["ort_weights"], "b": n["b"], "wo": n["Wo"].T, "bo": n["bo"]}
    weights = [helper.make_tensor(k, 1, v.shape, v.astype(np.float32).ravel()) for k, v in values.items()]
    nodes = [helper.make_node("Attention", ["x", "w", "b"], ["heads"], domain="com.microsoft", num_heads=n["H"]),
             helper.make_node("MatMul", ["heads", "wo"], ["product"]), helper.make_node("Add", ["product", "bo"], ["y"])]
    graph = helper.make_graph(nodes, "attention", [helper.make_tensor_value_info("x", 1, x.shape)],
                              [helper.make_tensor_value_info("y", 1, x.shape)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.ascontiguousarray(x, np.float32)})[0]


def judge_real(x, n, output):
    """([names of those that were there], [sentences])"""
    there, wrong = [], []
    for name, program in (("Flax", real_flax), ("Keras", real_keras), ("ONNX Runtime", real_ort)):
        try:
            error = np.abs(program(x, n) - output).max() / np.abs(output).max()
        except ImportError:
            continue
        there.append(name)
        if not error < 1e-5:    # two of them compute in float32
            wrong.append(f"{name} itself: off by {error:.1e} of the largest output")
    return there, wrong


# ---- what the pages show ----

def write_pages(program):
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(ROOT / "tests" / "checkpoints", place, dirs_exist_ok=True)

        def replay(block):
            lines = []
            for command in (line for line in block.group(1).splitlines() if line.startswith("$ ")):
                run = subprocess.run([program, *shlex.split(command)[2:]], cwd=place, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                lines += [command, *(line.replace("\t", " ").rstrip() for line in run.stdout.splitlines())]
            return "```console\n" + "".join(line + "\n" for line in lines) + "```"

        for page in ("porting.md", "porting.zh.md"):
            path = ROOT / "docs" / page
            path.write_text(re.sub(r"^```console\n(.*?)^```", replay, path.read_text(), flags=re.M | re.S))


def main():
    if sys.argv[1:2] == ["--write"]:
        return write_pages(Path(sys.argv[2]).resolve())
    vector = npz.read(ROOT / "vectors" / "core" / "answer.npz")
    page = (ROOT / "docs" / "porting.md").read_text()
    there, back = [b for b in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S) if "def record" not in b]
    n = {"np": np, "W": vector["in_proj_weight"].astype(float), "b": vector["in_proj_bias"].astype(float),
         "Wo": vector["out_proj.weight"].astype(float), "bo": vector["out_proj.bias"].astype(float), "num_heads": int(vector["num_heads"])}
    x = vector["query"].astype(float)
    if not vector["batch_first"]:
        x = x.swapaxes(0, 1)
    assert all(np.array_equal(vector["query"], vector[k]) for k in ("key", "value"))
    exec(there, n)
    exec(back, n)
    wrong = []
    for name, formula in FORMULAS.items():
        error = np.abs(formula(x, n) - vector["output"]).max() / np.abs(vector["output"]).max()
        if not error < 1e-12:
            wrong.append(f"{name}: off by {error:.1e} of the largest output")
        for ours, original in (("W", "W"), ("Wo", "Wo"), ("b", "b")):
            returned = n.get(f"{ours}_{name}")
            if returned is not None and not np.array_equal(returned, n[original]):
                wrong.append(f"{ours}_{name}: not what it was")
        if f"W_{name}" not in n:
            wrong.append(f"W_{name}: missing")
    real, more = judge_real(x, n, vector["output"])
    if wrong + more:
        raise SystemExit("\n".join(wrong + more))
    print(f"docs/porting.md: {len(FORMULAS)} layouts there and back; programs themselves: {', '.join(real) or 'none installed'}")


if __name__ == "__main__":
    main()
