# SPDX-License-Identifier: MIT
"""A torch module with the signature of torch.nn.MultiheadAttention, judged with each vector's own weights."""
import inspect
from typing import Any, Callable, Optional

from ._cases import Run, cases
from ._report import Report, check_cases

# Names that other people's modules give to the four projections.
_LAYERS = (("q_proj", "k_proj", "v_proj", "out_proj"), ("q_proj", "k_proj", "v_proj", "o_proj"), ("wq", "wk", "wv", "wo"),
           ("W_q", "W_k", "W_v", "W_o"), ("query", "key", "value", "out"), ("to_q", "to_k", "to_v", "to_out"))


def _has(function, name):
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _accepted(function, arguments, what):
    """arguments that the function has; NotImplementedError if it lacks one that matters: one that is not at PyTorch's default"""
    for name, value in arguments.items():
        if not _has(function, name) and value is not None and value is not (name == "bias"):
            raise NotImplementedError(f"{what} has no argument {name}")
    return {n: v for n, v in arguments.items() if _has(function, n)}


def _load(module, i, torch):
    """weights of the case into module: under PyTorch's own names, or into four linear layers under one of the usual names"""
    t = {n: torch.from_numpy(x) for n, x in i.items() if hasattr(x, "dtype")}
    E = i["query"].shape[2]
    state = {"out_proj.weight": t["out_proj_weight"]}
    if "out_proj_bias" in t:
        state["out_proj.bias"] = t["out_proj_bias"]
    for name in "bias_k", "bias_v":
        if name in t:
            state[name] = t[name].reshape(1, 1, E)
    own = module.state_dict()
    if "in_proj_weight" in own:
        state["in_proj_weight"] = torch.cat([t["q_proj_weight"], t["k_proj_weight"], t["v_proj_weight"]])
    elif "q_proj_weight" in own:
        state.update({f"{n}_proj_weight": t[f"{n}_proj_weight"] for n in "qkv"})
    else:
        return _load_layers(module, t, own)
    if "in_proj_bias" in t:
        state["in_proj_bias"] = t["in_proj_bias"]
    module.load_state_dict(state)


def _load_layers(module, t, own):
    names = next((names for names in _LAYERS if all(f"{n}.weight" in own for n in names)), None)
    if names is None:
        raise ValueError(f"found the parameters {', '.join(own)}: wanted PyTorch's own, or four linear layers such as "
                         f"{', '.join(_LAYERS[0])}; pass load=, a function (module, inputs) that copies the weights")
    if "bias_k" in t:
        raise NotImplementedError("the module has no bias_k")
    biases = list(t["in_proj_bias"].chunk(3)) + [t["out_proj_bias"]] if "in_proj_bias" in t else [None] * 4
    weights = [t["q_proj_weight"], t["k_proj_weight"], t["v_proj_weight"], t["out_proj_weight"]]
    state = {f"{n}.weight": w for n, w in zip(names, weights)}
    state.update({f"{n}.bias": b for n, b in zip(names, biases) if b is not None})
    for n in names:
        if biases[0] is None and f"{n}.bias" in own:
            raise NotImplementedError("the module's layers have biases")
    module.load_state_dict(state)


def check_module(make: Callable[..., Any], pattern: str = "*", dtype: str = "float32", *,
                 load: Optional[Callable[[Any, dict], None]] = None) -> Report:
    """Judge a torch.nn.Module that takes the place of torch.nn.MultiheadAttention.

    make: its class, or a function: make(embed_dim, num_heads, bias=, add_bias_kv=, add_zero_attn=, kdim=, vdim=, batch_first=True)
    returns a module; what it has no argument for is left out where PyTorch's default is meant, else the vector is skipped.
    The module is called as module(query, key, value, attn_mask=, key_padding_mask=, need_weights=True, average_attn_weights=False),
    again as far as it has these arguments (a mask is given only where the vector has one), in evaluation mode, and returns output
    (N,L,E), or a tuple that begins with it; attention weights of shape (N,num_heads,L,S') behind it are judged too.

    load: load(module, inputs) copies the weights of Case.inputs into the module. Without it they go to PyTorch's names
    (in_proj_weight, ...) or to four torch.nn.Linear (q_proj k_proj v_proj out_proj, wq wk wv wo, ...).

    Needs torch. dtype as for check(): the module and its inputs are in that type.
    """
    import torch

    if isinstance(make, torch.nn.Module):
        raise TypeError(f"found a module, wanted its class ({type(make).__name__}) or a function that makes one: vectors have many sizes")
    kind = {"float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16}.get(dtype, torch.float32)

    def layer(**i):
        (N, L, E), S = i["query"].shape, i["key"].shape[1]
        options = {"bias": i["in_proj_bias"] is not None, "add_bias_kv": i["bias_k"] is not None, "add_zero_attn": i["add_zero_attn"],
                   "kdim": i["key"].shape[2] if i["key"].shape[2] != E else None, "vdim": i["value"].shape[2] if i["value"].shape[2] != E else None}
        signature = make.__init__ if inspect.isclass(make) else make
        options = _accepted(signature, options, "the module")
        if _has(signature, "batch_first"):    # else it is taken to be batch first
            options["batch_first"] = True
        module = make(E, i["num_heads"], **options)
        (load or (lambda m, i: _load(m, i, torch)))(module, i)
        module = module.to(kind).eval()
        number = lambda x: x if x is None else torch.from_numpy(x) if x.dtype == bool else torch.from_numpy(x).to(kind)
        masks = {n: number(i[n]) for n in ("attn_mask", "key_padding_mask") if i[n] is not None}
        asked = {n: v for n, v in (("need_weights", True), ("average_attn_weights", False)) if _has(module.forward, n)}
        with torch.no_grad():
            y = module(number(i["query"]), number(i["key"]), number(i["value"]), **_accepted(module.forward, masks, "forward()"), **asked)
        y = y if isinstance(y, tuple) else (y,)
        weights = y[1] if len(y) > 1 and y[1] is not None and tuple(y[1].shape[:3]) == (N, i["num_heads"], L) else None
        return {"output": y[0], "attn_weights": weights}

    run = Run(getattr(make, "__qualname__", type(make).__name__), dtype, "layer", None if pattern == "*" else pattern)
    return check_cases(layer, cases(pattern, dtype), run)
