# SPDX-License-Identifier: MIT
"""Cases that complete the table of pairs: every option beside every other, in some vector.

  python gen/pairs.py        print the lines that TABLE lacks, chosen so that few small vectors have all missing pairs

tests/pairs/pairs.c counts the pairs again, from the files alone, and writes docs/pairs.md. Letters as in README.
"""
import itertools

import numpy as np

import hashed
from inputs import added, causal, drawn, padding_added

# factor: {letter in TABLE: what it means}
FACTORS = {
    "kdim": {"e": "kdim = E", "n": "kdim < E", "w": "kdim > E"},
    "vdim": {"e": "vdim = E", "n": "vdim < E", "w": "vdim > E"},
    "branch": {"s": "query is key is value", "k": "key is value", "d": "three arguments"},
    "attn": {"0": "no attn_mask", "b": "bool attn_mask (L,S)", "f": "float attn_mask (L,S)",
             "B": "bool attn_mask (N*H,L,S)", "F": "float attn_mask (N*H,L,S)"},
    "causal": {"0": "", "c": "is_causal"},
    "pad": {"0": "no padding", "b": "bool padding", "f": "float padding"},
    "bias_kv": {"0": "", "1": "bias_k and bias_v"},
    "zero_attn": {"0": "", "1": "add_zero_attn"},
    "layout": {"b": "batch_first", "s": "(L,N,E)", "u": "unbatched"},
    "bias": {"0": "no bias", "1": "bias"},
    "N": {"1": "N = 1", "m": "N = 2 to 4", "l": "N > 4"},
    "H": {"1": "H = 1", "m": "H = 2 to 4", "l": "H > 4"},
    "L": {"1": "L = 1", "s": "L = 2 to 16", "m": "L = 17 to 64", "l": "L > 64"},
    "S": {"1": "S = 1", "s": "S = 2 to 16", "m": "S = 17 to 64", "l": "S > 64"},
    "D": {"1": "D = 1", "s": "D = 2 to 8", "m": "D = 9 to 64", "l": "D > 64"},
}
NAMES = list(FACTORS)
SIZE = {"N": {"1": 1, "m": 3, "l": 5}, "H": {"1": 1, "m": 3, "l": 5}, "L": {"1": 1, "s": 5, "m": 18, "l": 66},
        "S": {"1": 1, "s": 7, "m": 19, "l": 67}, "D": {"1": 1, "s": 3, "m": 10, "l": 66}}

# a letter for each factor, in their order; then what makes the vector blind to some mistakes, which a combination cannot help
TABLE = """
wwkbc011s0l111m constant_mask
wwkfcf11b111ms1
nwdF0b10s0mll11 equal_masks
nndf0f11u01mmm1
ewdB0001u01l111 equal_masks
eesFcf11u01111l constant_mask
nnkBc001u01msls equal_masks
eekF0f01b0l1l11
wwkBcb11s1m1mms equal_masks
wndfc011s11ml11 constant_mask
eekfc010b1mlm11 constant_mask
eesB0f10s1l1mm1 zero_bias
wwdbcf10u01l1m1
wwkFcb11s0111lm
nedf0f11u111slm
wwkF0f01s011m1l constant_mask
eedB0011u01ml1s equal_masks
eesfcf00b0l1ss1
endF0f11b01m11m constant_mask
eedBcf11b0l11ml equal_masks
eekB0f01b1l111m equal_masks
nndb0b11s0ll1l1
eesb0b10u01mlll
wwkB0f01u11l11l constant_mask equal_masks
"""


def possible(x):
    """x: {factor: letter}, of all factors or of some."""
    got = x.get
    if got("causal") == "c" and got("attn") == "0":
        return False
    if got("layout") == "u" and got("N", "1") != "1":
        return False
    if got("branch") == "s":
        if got("kdim", "e") != "e" or got("vdim", "e") != "e" or ("L" in x and "S" in x and x["L"] != x["S"]):
            return False
    if got("branch") == "k" and "kdim" in x and "vdim" in x and x["kdim"] != x["vdim"]:
        return False
    if (got("kdim") == "n" or got("vdim") == "n") and got("H") == "1" and got("D") == "1":
        return False
    return True


def pairs_of(x):
    """Beside a lone key, whose weight is 1, neither masks nor the key's projection matter: they then count with S alone."""
    alone = x["S"] == "1" and x["bias_kv"] == x["zero_attn"] == "0"
    hidden = {"kdim", "attn", "causal", "pad"} if alone else set()
    return {((a, x[a]), (b, x[b])) for a, b in itertools.combinations(NAMES, 2) if not {a, b} & hidden or "S" in (a, b)}


def letters(c):
    """The combination that a case has, or None where it is empty."""
    if not c.N * c.L * c.S:
        return None
    width = {"kdim": c.kdim or c.E, "vdim": c.vdim or c.E}
    x = {name: "e" if w == c.E else "n" if w < c.E else "w" for name, w in width.items()}
    x["branch"] = {"self": "s", "encdec": "k", "distinct": "d"}[c.branch]
    mask = c.attn(c, np.zeros((c.N, c.S), bool)) if c.attn else None
    x["attn"] = "0" if mask is None else ("bB" if mask.dtype == bool else "fF")[mask.ndim - 2]
    x["causal"] = "c" if c.is_causal else "0"
    pad = c.pad(c, None) if c.pad else None
    x["pad"] = "0" if pad is None else "b" if pad.dtype == bool else "f"
    x["bias_kv"], x["zero_attn"], x["bias"] = str(int(c.bias_kv)), str(int(c.zero_attn)), str(int(c.bias))
    x["layout"] = {"batch_first": "b", "seq_first": "s", "unbatched": "u"}[c.layout]
    for name, ends in ("N", (1, 4)), ("H", (1, 4)), ("L", (1, 16, 64)), ("S", (1, 16, 64)), ("D", (1, 8, 64)):
        x[name] = ("1ml" if len(ends) == 2 else "1sml")[sum(getattr(c, name) > end for end in ends)]
    return x


# ---- a combination as a case ----

def _attn(letter, is_causal):
    ndim = 3 if letter in "BF" else 2
    if is_causal:
        two = causal(letter in "fF")
        return two if ndim == 2 else lambda c, pad: np.repeat(two(c, pad)[None], c.N * c.H, 0)
    if letter in "fF":
        return added(ndim, percent=20)

    def make(c, pad):
        if c.S > 1:
            return drawn(ndim)(c, pad)
        shape = (c.L, 1) if ndim == 2 else (c.N * c.H, c.L, 1)       # a lone key is closed for every other query
        return np.arange(np.prod(shape)).reshape(shape) % 2 == 0
    return make


def _pad(letter):
    if letter == "f":
        return padding_added(percent=20)

    def make(c, _):
        masked = hashed.integers(c.source, "key_padding_mask", (c.N, c.S), 0, 2) == 0
        masked[:, 0] = np.arange(c.N) % 2 == 0 if c.S == 1 else False
        return masked
    return make


def options(x):
    D, H = SIZE["D"][x["D"]], SIZE["H"][x["H"]]
    E, S = H * D, SIZE["S"][x["S"]]
    L = SIZE["L"][x["L"]] if x["branch"] != "s" else S
    width = {"e": None, "n": max(1, min(E - 1, 2)), "w": E + 3}
    attn = _attn(x["attn"], x["causal"] == "c") if x["attn"] != "0" else None
    return dict(N=SIZE["N"][x["N"]], H=H, L=L, S=S, D=D, kdim=width[x["kdim"]], vdim=width[x["vdim"]], bias=x["bias"] == "1",
                bias_kv=x["bias_kv"] == "1", zero_attn=x["zero_attn"] == "1", branch={"s": "self", "k": "encdec", "d": "distinct"}[x["branch"]],
                layout={"b": "batch_first", "s": "seq_first", "u": "unbatched"}[x["layout"]], attn=attn, is_causal=x["causal"] == "c",
                pad=_pad(x["pad"]) if x["pad"] != "0" else None, sparse=3 if E > 32 else 0, gain=(1.3, 1.3, 1), brief=True)


def add(case):
    for n, line in enumerate(TABLE.split("\n")[1:-1], 1):
        code, *blind = line.split()
        x = dict(zip(NAMES, code))
        words = ", ".join(word for name, letter in x.items() if (word := FACTORS[name][letter]))
        case(f"pairs/p{n:02}", f"Pairs of options that no other vector has, in one combination: {words}.", "",
             because={kind: "the combination leaves no choice" for kind in blind}, **options(x))


# ---- choosing combinations ----

def _work(x):
    s = {name: SIZE[name][x[name]] for name in SIZE}
    E, rows = s["H"] * s["D"], s["N"] * (s["L"] + s["S"])
    return 2000 + 4 * E * E + rows * E * min(E, 8) + s["N"] * s["H"] * s["L"] * s["S"] * (4 + s["D"] / 4)


def missing(cases):
    have = set().union(*(pairs_of(x) for c in cases if (x := letters(c))))
    every = {((a, p), (b, q)) for a, b in itertools.combinations(NAMES, 2) for p in FACTORS[a] for q in FACTORS[b] if possible({a: p, b: q})}
    return every - have


def choose(wanted, tries=400):
    """Greedy: of combinations drawn around a missing pair, the one that adds most for its work."""
    chosen, seed = [], 0
    while wanted:
        best, best_value = None, 0
        for k in range(tries):
            seed += 1
            first = sorted(wanted)[seed % len(wanted)]
            draw = hashed.words("pairs", str(seed), len(NAMES))
            x = {name: sorted(FACTORS[name])[int(w) % len(FACTORS[name])] for name, w in zip(NAMES, draw)}
            x.update(dict(first))
            if x["branch"] == "s":
                x["L"] = x["S"] = dict(first).get("L", dict(first).get("S", x["S"]))
            if possible(x):
                value = len(pairs_of(x) & wanted) / _work(x) ** 0.3
                best, best_value = (x, value) if value > best_value else (best, best_value)
        if best:
            chosen.append(best)
            wanted = wanted - pairs_of(best)
    return chosen


if __name__ == "__main__":
    from cases import CASES
    for found in choose(missing(CASES)):
        print("".join(found[name] for name in NAMES))
