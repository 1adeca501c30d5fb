# SPDX-License-Identifier: MIT
"""A case of the list -> configuration, parameters and arguments, as they go into the file."""
import math
from dataclasses import dataclass, field

import numpy as np

import hashed


@dataclass
class Case:
    name: str
    why: str                      # becomes `about`
    catches: str = ""             # names of mistakes
    N: int = 3
    H: int = 2
    L: int = 4
    S: int = 7
    D: int = 5
    kdim: int = None
    vdim: int = None
    bias: bool = True
    bias_kv: bool = False
    zero_attn: bool = False
    branch: str = "distinct"      # self: query is key is value; encdec: key is value
    layout: str = "batch_first"   # seq_first: (L,N,E); unbatched: (L,E)
    attn: object = None           # attn_mask: a function of the case, see below
    pad: object = None            # key_padding_mask, likewise
    is_causal: bool = False
    dropout: float = 0.0
    off_grid: bool = False
    gain: tuple = (1, 1, 1)       # factors on the usual size of the weights of q, k, v
    shift: tuple = (0, 0, 0)      # added to the biases of q, k, v
    numbers: str = ""             # take the numbers of this vector
    edit: object = None           # a last touch: function of the named arrays, arguments still (N,L,E)
    because: dict = field(default_factory=dict)   # what would be refused, and why it is wanted here
    kills_nothing: str = ""       # why no wrong number can show here
    version: str = ""             # where PyTorch's versions differ
    brief: bool = False           # store only the results, and of those only output where they are large
    sparse: int = 0               # nonzero numbers in a row of a weight; 0: all
    items: int = 0                # item n has the arguments of item n % items; 0: its own
    rows: int = 0                 # each row of an argument is one of this many; 0: its own
    trained: bool = False

    @property
    def E(self):
        return self.H * self.D

    @property
    def source(self):
        return self.numbers or self.name


# ---- masks: bool arrays where true means masked, or float arrays to add ----

def _open_every_row(masked, case, pad):
    """Every row keeps a key that the padding leaves open, or it would be a case of fully_masked."""
    rows = masked.reshape(-1, case.L, case.S)
    pick = hashed.words(case.source, "repair", rows.shape[0] * case.L).reshape(rows.shape[:2])
    for (r, i), w in np.ndenumerate(pick):
        items = range(case.N) if len(rows) == 1 else [r // case.H]
        for n in items:
            free = ~pad[n] if pad is not None else np.ones(case.S, bool)
            if free.any() and not (~rows[r, i] & free).any():
                rows[r, i, np.flatnonzero(free)[int(w) % int(free.sum())]] = False
    return masked


def _shape(case, ndim):
    return (case.L, case.S) if ndim == 2 else (case.N * case.H, case.L, case.S)


def drawn(ndim, percent=35):
    """A random bool mask."""
    def make(case, pad):
        masked = hashed.integers(case.source, "attn_mask", _shape(case, ndim), 0, 99) < percent
        return _open_every_row(masked, case, pad)
    return make


def added(ndim, std=2.0, percent=0):
    """Numbers of both signs to add, some of them -inf."""
    def make(case, pad):
        x = hashed.grid(hashed.normal(case.source, "attn_mask.added", _shape(case, ndim)), std)
        if case.off_grid:
            x = hashed.normal(case.source, "attn_mask.added", _shape(case, ndim)) * std * _ODD
        if percent:
            x = np.where(drawn(ndim, percent)(case, pad), -np.inf, x)
        return x
    return make


def causal(as_float=False):
    """Query i sees keys 0 to i."""
    def make(case, pad):
        masked = np.triu(np.ones((case.L, case.S), bool), 1)
        return np.where(masked, -np.inf, 0.0) if as_float else masked
    return make


def rows(*text, value=None):
    """Drawn by hand, a string a row: x is masked. With value, a float mask of 0 and value. A blank string parts the
    (L,S) pieces of a 3-D mask."""
    def make(case, pad):
        masked = np.array([[c == "x" for c in row] for row in text if row])
        if "" in text:
            masked = masked.reshape(-1, case.L, case.S)
        return masked if value is None else np.where(masked, value, 0.0)
    return make


def lengths(*valid):
    """Padding on the right."""
    return lambda case, _: np.arange(case.S)[None, :] >= np.array(valid)[:, None]


def padding_added(std=1.5, percent=0):
    """A float key_padding_mask: numbers of both signs, some -inf, key 0 never."""
    def make(case, _):
        x = hashed.grid(hashed.normal(case.source, "key_padding_mask", (case.N, case.S)), std)
        if case.off_grid:
            x = hashed.normal(case.source, "key_padding_mask", (case.N, case.S)) * std * _ODD
        masked = hashed.integers(case.source, "key_padding_mask.masked", x.shape, 0, 99) < percent
        masked[:, 0] = False
        return np.where(masked, -np.inf, x)
    return make


# ---- numbers ----

_ODD = 0.9871234567      # makes a product of grid numbers fill float32's mantissa


def _tensor(case, name, shape, std):
    z = hashed.normal(case.source, name, shape)
    return z * (std * _ODD) if case.off_grid else hashed.grid(z, std)


def _argument(case, name, length, width):
    """(N,length,width). Repeated items and rows keep a file small and change no index: use numbers that share no factor with a tile."""
    N = min(case.items, case.N) if case.items else case.N
    if case.rows:
        pick = hashed.integers(case.source, name + ".row", (N, length), 0, case.rows - 1)
        x = _tensor(case, name, (case.rows, width), 1.0)[pick]
    else:
        x = _tensor(case, name, (N, length, width), 1.0)
    return x[np.arange(case.N) % N] if N else x


def _arguments(case):
    E, Ek, Ev = case.E, case.kdim or case.E, case.vdim or case.E
    t = {"query": _argument(case, "query", case.L, E)}
    if case.branch == "self":
        t["key"] = t["value"] = t["query"]
        return t
    t["key"] = _argument(case, "key", case.S, Ek)
    t["value"] = t["key"] if case.branch == "encdec" else _argument(case, "value", case.S, Ev)
    return t


def _weight(case, name, rows, columns, std):
    """(rows,columns). Sparse: the nonzero numbers lie on diagonals that wrap around, so that no row or column is empty."""
    if not case.sparse or columns <= case.sparse:
        return _tensor(case, name, (rows, columns), std / math.sqrt(columns))
    w = np.zeros((rows, columns))
    at = np.arange(rows)
    first = np.argsort(hashed.words(case.source, name + ".diagonal", columns))
    for k in range(case.sparse):
        size = hashed.integers(case.source, f"{name}.{k}", (rows,), 1, 4) / 2.5
        sign = 1 - 2 * hashed.integers(case.source, f"{name}.{k}.sign", (rows,), 0, 1)
        w[at, (at + first[k]) % columns] = sign * size * std / math.sqrt(case.sparse)
    return w


def _parameters(case):
    E, Ek, Ev = case.E, case.kdim or case.E, case.vdim or case.E
    # 1.1 / sqrt(fan in): scores then spread over 3 to 6 in a row of seven, neither flat nor one-hot
    weights = [_weight(case, f"{x}_weight", E, fan, 1.1 * g) for x, fan, g in zip("qkv", (E, Ek, Ev), case.gain)]
    t = {}
    if Ek == E and Ev == E:
        t["in_proj_weight"] = np.concatenate(weights)
    else:
        t["q_proj_weight"], t["k_proj_weight"], t["v_proj_weight"] = weights
    if case.bias:
        t["in_proj_bias"] = np.concatenate([_tensor(case, f"{x}_bias", (E,), 0.5) + s for x, s in zip("qkv", case.shift)])
    if case.bias_kv:
        t["bias_k"] = _tensor(case, "bias_k", (1, 1, E), 1.0)
        t["bias_v"] = _tensor(case, "bias_v", (1, 1, E), 1.0)
    t["out_proj.weight"] = _weight(case, "out_proj.weight", E, E, 1.0)
    if case.bias:
        t["out_proj.bias"] = _tensor(case, "out_proj.bias", (E,), 0.5)
    return t


def _masks(case):
    t, padded = {}, None
    if case.pad:
        pad = case.pad(case, None)
        padded = pad if pad.dtype == bool else np.isneginf(pad)
        t["key_padding_mask"] = pad
    if case.attn:
        t["attn_mask"] = case.attn(case, padded)
    return t


def _laid_out(case, name, x):
    if name in ("query", "key", "value"):
        return x[0] if case.layout == "unbatched" else x.swapaxes(0, 1) if case.layout == "seq_first" else x
    if name == "key_padding_mask" and case.layout == "unbatched":
        return x[0]
    return x


def configuration(case):
    whole = dict(format=1, embed_dim=case.E, kdim=case.kdim or case.E, vdim=case.vdim or case.E, num_heads=case.H,
                 batch_first=case.layout == "batch_first", add_zero_attn=case.zero_attn, is_causal=case.is_causal)
    return {**{k: np.array(v, "<i8") for k, v in whole.items()}, "dropout": np.array(case.dropout, "<f8")}


def members(case):
    """Configuration, parameters, arguments: name -> array as stored."""
    if case.branch == "self" and (case.L != case.S or case.kdim or case.vdim):
        raise ValueError(f"{case.name}: self-attention has L = S and no kdim or vdim")
    if case.layout == "unbatched" and case.N != 1:
        raise ValueError(f"{case.name}: unbatched means N = 1")
    t = {**_parameters(case), **_arguments(case), **_masks(case)}
    if case.edit:
        case.edit(t, case)
    out = configuration(case)
    for name in sorted(t, key=_ORDER.index):
        x = _laid_out(case, name, np.asarray(t[name]))
        if x.dtype != bool:
            x = (x if case.off_grid else hashed.eight_bits(x)).astype("<f4")
        out[name] = np.array(x, order="C")
    return out


PARAMETERS = ["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "bias_k", "bias_v",
              "out_proj.weight", "out_proj.bias"]
ARGUMENTS = ["query", "key", "value", "attn_mask", "key_padding_mask"]
_ORDER = PARAMETERS + ARGUMENTS
