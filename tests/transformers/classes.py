# SPDX-License-Identifier: MIT
"""Split real classes of Hugging Face transformers, with random weights, and compare bit for bit; prove the order of some by records.

  python tests/transformers/classes.py PATH/TO/qkvec [--order]

Exits with 77 (skipped) if torch or transformers is not installed. No download: every model is made from its config.
The expected matrices come from each class's own way of splitting, written out here in numpy.
"""
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
try:
    import numpy as np
    import torch
    import transformers
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)
from safetensors.numpy import load_file

H, G = 4, 2
PLAIN = dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=H, intermediate_size=32, vocab_size=50)
GROUPED = dict(PLAIN, num_key_value_heads=G)
IMAGE = dict(PLAIN, image_size=8, patch_size=4)
SEQ2SEQ = dict(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=H, decoder_attention_heads=H, encoder_ffn_dim=32,
               decoder_ffn_dim=32, vocab_size=50)
SPECIAL = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)


def three(q, k, v):
    return lambda t: [(t[f"{n}.weight"], t.get(f"{n}.bias")) for n in (q, k, v)]


def whole(name, rows=(1, 1, 1)):
    """Rows of q, then of k, then of v, in these proportions."""
    def parts(t):
        w, b = t[f"{name}.weight"], t.get(f"{name}.bias")
        at = np.cumsum(rows)[:2] * (len(w) // sum(rows))
        return list(zip(np.split(w, at), np.split(b, at) if b is not None else [None] * 3))
    return parts


def by_group(name, groups, each):
    """(groups, each + 2, D): each query heads, a key head, a value head."""
    def parts(t):
        w, b = t[f"{name}.weight"], t.get(f"{name}.bias")
        def cut(x):
            y = x.reshape(groups, each + 2, -1, *x.shape[1:])
            return [z.reshape(-1, *x.shape[1:]) for z in (y[:, :each], y[:, each:each + 1], y[:, each + 1:])]
        return list(zip(cut(w), cut(b) if b is not None else [None] * 3))
    return parts


def conv1d(t):
    return list(zip(np.split(t["c_attn.weight"].T, 3), np.split(t["c_attn.bias"], 3)))


def codegen(t):
    """4 shards of q, v, k."""
    w = t["qkv_proj.weight"].reshape(4, 3, -1, t["qkv_proj.weight"].shape[1])
    return [(w[:, s].reshape(-1, w.shape[-1]), None) for s in (0, 2, 1)]


def deberta(t):
    parts = by_group("self.in_proj", H, 1)(t)
    return [(parts[0][0], t["self.q_bias"]), (parts[1][0], None), (parts[2][0], t["self.v_bias"])]


def xlnet(t):
    return [(t[n].reshape(t[n].shape[0], -1).T, None) for n in "qkv"]


LLAMA = three("q_proj", "k_proj", "v_proj")
BERT = three("self.query", "self.key", "self.value")
VIT = three("attention.query", "attention.key", "attention.value")
CLASSES = {
    "GPT2Model": (dict(n_embd=32, n_layer=1, n_head=H, vocab_size=50), "h.0.attn", conv1d),
    "OPTModel": (dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=H, ffn_dim=32, vocab_size=50, word_embed_proj_dim=32),
                 "decoder.layers.0.self_attn", LLAMA),
    "BartModel": (SEQ2SEQ, "encoder.layers.0.self_attn", LLAMA),
    "WhisperModel": (dict(SEQ2SEQ, vocab_size=60000, num_mel_bins=8), "encoder.layers.0.self_attn", LLAMA),
    "BertModel": (PLAIN, "encoder.layer.0.attention", BERT), "RobertaModel": (PLAIN, "encoder.layer.0.attention", BERT),
    "ElectraModel": (dict(PLAIN, embedding_size=32), "encoder.layer.0.attention", BERT),
    "MPNetModel": (PLAIN, "encoder.layer.0.attention.attn", three("q", "k", "v")),
    "ViTModel": (IMAGE, "encoder.layer.0.attention", VIT),
    "BeitModel": (dict(IMAGE, use_relative_position_bias=True, out_indices=[1]), "encoder.layer.0.attention", VIT),
    "Dinov2Model": (IMAGE, "encoder.layer.0.attention", VIT),
    "SwinModel": (dict(embed_dim=32, depths=[1], num_heads=[H], image_size=8, patch_size=2, window_size=2), "encoder.layers.0.blocks.0.attention", BERT),
    "CLIPModel": (dict(text_config=PLAIN, vision_config=IMAGE), "vision_model.encoder.layers.0.self_attn", LLAMA),
    "Wav2Vec2Model": (dict(PLAIN, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2), "encoder.layers.0.attention", LLAMA),
    "DistilBertModel": (dict(dim=32, n_layers=1, n_heads=H, hidden_dim=32, vocab_size=50), "transformer.layer.0.attention", three("q_lin", "k_lin", "v_lin")),
    "AlbertModel": (dict(PLAIN, embedding_size=32), "albert_layers.0.attention", three("query", "key", "value")),
    "T5Model": (dict(d_model=32, d_kv=8, num_heads=H, num_layers=1, d_ff=32, vocab_size=50), "encoder.block.0.layer.0.SelfAttention", three("q", "k", "v")),
    "DebertaModel": (dict(PLAIN, pos_att_type=["c2p", "p2c"], relative_attention=True), "encoder.layer.0.attention", deberta),
    "DebertaV2Model": (PLAIN, "encoder.layer.0.attention", three("self.query_proj", "self.key_proj", "self.value_proj")),
    "ModernBertModel": (dict(PLAIN, **SPECIAL), "layers.0.attn", whole("Wqkv")),
    "PhiModel": (PLAIN, "layers.0.self_attn", LLAMA), "GPTJModel": (dict(n_embd=32, n_layer=1, n_head=H, rotary_dim=8, vocab_size=50), "h.0.attn", LLAMA),
    "GPTNeoModel": (dict(hidden_size=32, num_layers=1, num_heads=H, attention_types=[[["global"], 1]], vocab_size=50), "h.0.attn.attention", LLAMA),
    "CodeGenModel": (dict(n_embd=32, n_layer=1, n_head=H, n_ctx=32, rotary_dim=8, vocab_size=50), "h.0.attn", codegen),
    "BloomModel": (dict(hidden_size=32, n_layer=1, n_head=H, vocab_size=50), "h.0.self_attention", by_group("query_key_value", H, 1)),
    "MptModel": (dict(d_model=32, n_layers=1, n_heads=H, vocab_size=50), "blocks.0.attn", whole("Wqkv")),
    "GPTNeoXModel": (PLAIN, "layers.0.attention", by_group("query_key_value", H, 1)),
    "FalconModel": (dict(PLAIN, new_decoder_architecture=True, num_kv_heads=G), "h.0.self_attention", by_group("query_key_value", G, H // G)),
    "GPTBigCodeModel": (dict(n_embd=32, n_layer=1, n_head=H, vocab_size=50), "h.0.attn", whole("c_attn", (H, 1, 1))),
    "LlamaModel": (GROUPED, "layers.0.self_attn", LLAMA), "MistralModel": (GROUPED, "layers.0.self_attn", LLAMA),
    "Qwen2Model": (GROUPED, "layers.0.self_attn", LLAMA), "Qwen3Model": (dict(GROUPED, head_dim=16), "layers.0.self_attn", LLAMA),
    "GemmaModel": (dict(GROUPED, head_dim=16), "layers.0.self_attn", LLAMA), "Gemma2Model": (dict(GROUPED, head_dim=8), "layers.0.self_attn", LLAMA),
    "Olmo2Model": (GROUPED, "layers.0.self_attn", LLAMA), "Starcoder2Model": (GROUPED, "layers.0.self_attn", LLAMA),
    "Phi3Model": (dict(GROUPED, pad_token_id=0), "layers.0.self_attn", whole("qkv_proj", (H // G, 1, 1))),
    "XLNetModel": (dict(d_model=32, n_layer=1, n_head=H, d_inner=32, vocab_size=50), "layer.0.rel_attn", xlnet),
}
# Their modules, recorded as they are called; None: the name of the layer.
ORDERED = {
    "GPT2Model": "causal mask", "OPTModel": "causal mask", "BartModel": "", "CLIPModel": "", "Wav2Vec2Model": "", "WhisperModel": "", "BloomModel": "ALiBi",
    "MptModel": "ALiBi", "GPTNeoXModel": "rotary positions in halves", "LlamaModel": "rotary positions in halves", "GPTNeoModel": "scores not scaled",
    "MistralModel": "rotary positions in halves", "Qwen3Model": "RMS norm of q and k", "CodeGenModel": "rotary positions in pairs",
}


def randomised(name):
    cls = getattr(transformers, name)
    model = cls(cls.config_class(**CLASSES[name][0], attn_implementation="eager")).eval()
    g = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn(p.shape, generator=g) * (0.2 if p.dim() < 2 else p.shape[-1] ** -0.5))
    return model


def split(qkvec, name, folder):
    """'right', 'refused' or what is wrong."""
    randomised(name).save_pretrained(folder)
    file, layer, out = folder / "model.safetensors", CLASSES[name][1], folder / "qkv.npz"
    run = subprocess.run([qkvec, "split", file, layer, "-o", out], capture_output=True, text=True)
    if run.returncode:
        return "refused: " + run.stderr.strip()
    state = load_file(file)
    prefix = next(k[:k.index(layer) + len(layer) + 1] for k in state if layer + "." in k)
    expected = CLASSES[name][2]({k[len(prefix):]: v for k, v in state.items() if k.startswith(prefix)})
    got = np.load(out)
    for s, (weight, bias) in zip("qkv", expected):
        if not np.array_equal(got[f"{s}_weight"], weight) or (f"{s}_bias" in got) != (bias is not None):
            return f"WRONG: {s}"
        if bias is not None and not np.array_equal(got[f"{s}_bias"], bias):
            return f"WRONG: bias of {s}"
    return "right"


def order(qkvec, name, folder):
    model = randomised(name)
    model.save_pretrained(folder)
    layer, record = CLASSES[name][1], {}

    def hook(module, args, kwargs, output):
        given = args[0] if args else kwargs["hidden_states"]
        record["query"] = given.detach().numpy()
        record["output"] = (output[0] if isinstance(output, tuple) else output).detach().numpy()
        if name == "BloomModel":
            record["residual"] = (args[1] if len(args) > 1 else kwargs["residual"]).detach().numpy()
    model.get_submodule(layer).register_forward_hook(hook, with_kwargs=True)
    g = torch.Generator().manual_seed(2)
    tokens = torch.randint(3, 49, (2, 7), generator=g)
    call = {"CLIPModel": lambda: model.vision_model(pixel_values=torch.randn(2, 3, 8, 8, generator=g)),
            "Wav2Vec2Model": lambda: model(torch.randn(2, 4000, generator=g)),
            "WhisperModel": lambda: model.encoder.layers[0](torch.randn(2, 9, 32, generator=g), None)}
    call.get(name, lambda: model(input_ids=tokens))()
    np.savez(folder / "io.npz", batch_first=True, **record)
    run = subprocess.run([qkvec, "order", folder / "model.safetensors", layer, "--record", folder / "io.npz"], capture_output=True, text=True)
    return "right" if run.returncode == 0 and "proven" in run.stdout and ORDERED[name] in run.stdout else "WRONG: " + run.stdout + run.stderr


def main():
    qkvec = Path(sys.argv[1]).resolve()
    what, names = (order, ORDERED) if "--order" in sys.argv else (split, CLASSES)
    results = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                results[name] = what(qkvec, name, Path(folder))
            except (AttributeError, KeyError, TypeError, ValueError, RuntimeError) as error:
                results[name] = f"not made: {error}"
        if results[name] != "right":
            print(f"{name}: {results[name][:600]}")
    right = sum(r == "right" for r in results.values())
    wrong = sum(r.startswith("WRONG") for r in results.values())
    print(f"transformers {transformers.__version__}: {len(results)} classes, {right} right, {wrong} silently wrong or not named")
    return 1 if wrong or right < (34 if what is split else 12) else 0


if __name__ == "__main__":
    sys.exit(main())
