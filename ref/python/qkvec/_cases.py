# SPDX-License-Identifier: MIT
"""One vector as a function sees it, and the verdict on what it returned."""
import ctypes as C
import dataclasses
import fnmatch
import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _library as lib

PROFILES = "float64", "float32", "tf32", "float16", "bfloat16"
SCOPES = "layer", "core"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the judge says of one case.

    outcome is "pass", "fail" or "skip"; sigma the standard deviation that rounding may have in the worst element, error_sigma how
    many of them it is off; meets the tightest precision that the results meet; first_wrong the first stage that is wrong.
    """
    case: str
    outcome: str
    reason: str
    meets: Optional[str]
    policy: Optional[str]
    first_wrong: Optional[str]
    stage: Optional[str]
    index: Tuple[int, ...]
    got: float
    expected: float
    sigma: float
    error_sigma: float
    noise: float


def _verdict(name, v):
    text = lambda x: x.decode() if x else None
    return Verdict(name, ("pass", "fail", "skip")[v.outcome], v.reason.decode(errors="replace"), text(v.meets), text(v.policy), text(v.first_wrong),
                   text(v.stage), tuple(v.index[:v.ndim]), v.got, v.expected, v.sigma, v.error_sigma, v.noise)


def _core_inputs(c, number):
    """a mask that does nothing is None: an implementation is called as its users call it"""
    N, L, E, H, Sx = c.N, c.L, c.E, c.H, c.Sx
    D = E // H
    mask = number(c.mask, N, H, L, Sx)
    return {"q_heads": number(c.q_heads, N, H, L, D), "k_heads": number(c.k_heads, N, H, Sx, D), "v_heads": number(c.v_heads, N, H, Sx, D),
            "mask": mask if mask is not None and mask.any() else None}


def _layer_inputs(c, number):
    def mask(address, dtype, *shape):
        return lib.widened(lib.view(address, dtype, shape), dtype)

    N, L, S, E, H = c.N, c.L, c.S, c.E, c.H
    return {"query": number(c.query, N, L, E), "key": number(c.key, N, S, c.Ek), "value": number(c.value, N, S, c.Ev),
            "q_proj_weight": number(c.q_weight, E, E), "k_proj_weight": number(c.k_weight, E, c.Ek), "v_proj_weight": number(c.v_weight, E, c.Ev),
            "in_proj_bias": number(c.in_proj_bias, 3 * E),
            "out_proj_weight": number(c.out_weight, E, E), "out_proj_bias": number(c.out_bias, E),
            "bias_k": number(c.bias_k, E), "bias_v": number(c.bias_v, E),
            "num_heads": int(H), "add_zero_attn": bool(c.flags & 2),
            "attn_mask": mask(c.attn_mask, c.attn_mask_dtype, *((L, S) if c.attn_mask_ndim == 2 else (N * H, L, S))),
            "key_padding_mask": mask(c.key_padding_mask, c.padding_dtype, N, S)}


def _put_results(c, results):
    """results into the call's outputs; their bits"""
    N, L, E, H, Sx = c.N, c.L, c.E, c.H, c.Sx
    shapes = {"output": (N, L, E), "attn_weights": (N, H, L, Sx), "attn_weights_mean": (N, L, Sx), "head_outputs": (N, H, L, E // H)}
    unknown = set(results) - set(shapes)
    if unknown:
        raise ValueError(f"found the result {sorted(unknown)[0]!r}, wanted some of {', '.join(shapes)}")
    written = 0
    for name, bit in lib.OUTPUTS:
        address = getattr(c, name)
        if results.get(name) is None or not address:
            continue
        y = lib.as_numpy(results[name])
        if y.shape != shapes[name]:
            raise ValueError(f"{name} has the shape {y.shape}, wanted {shapes[name]}")
        lib.view(address, c.dtype, shapes[name])[...] = lib.narrowed(y, c.dtype)
        written |= bit
    return written


class Case:
    """One vector, for one precision, as a layer or as a core.

    dtype: "float32", "float64", "float16", "bfloat16", or "tf32" (float32 numbers, tensor cores).
    scope: "layer" (the whole MultiheadAttention) or "core" (softmax(q k^T / sqrt(head_dim) + mask) v).
    """

    def __init__(self, name: str, dtype: str = "float32", scope: str = "layer") -> None:
        if dtype not in PROFILES:
            raise ValueError(f"found the dtype {dtype!r}, wanted one of {', '.join(PROFILES)}")
        if scope not in SCOPES:
            raise ValueError(f"found the scope {scope!r}, wanted layer or core")
        self.name, self.dtype, self.scope = name, dtype, scope

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"qkvec.case({self.name!r}, {self.dtype!r}, {self.scope!r})"

    @property
    def inputs(self) -> Dict[str, Any]:
        """What the implementation is given: fresh numpy arrays, float32 (float64 for float64) whose numbers are exact in dtype.

        layer: query (N,L,E), key (N,S,kdim), value (N,S,vdim), q_proj_weight (E,E), k_proj_weight (E,kdim), v_proj_weight (E,vdim),
        in_proj_bias (3E), out_proj_weight (E,E), out_proj_bias (E), bias_k and bias_v (E), num_heads, add_zero_attn,
        attn_mask (L,S) or (N*num_heads,L,S), key_padding_mask (N,S); bool: true is masked; float: added. What is absent is None.
        core: q_heads (N,H,L,D), k_heads and v_heads (N,H,S',D), mask (N,H,L,S') to add, or None.
        """
        seen: Dict[str, Any] = {}

        def keep(**inputs):
            seen.update(inputs)
            raise NotImplementedError

        self.run(keep)
        return seen

    def run(self, fn: Callable[..., Any]) -> Verdict:
        """Call fn(**inputs) and judge what it returns. What fn raises is raised, but NotImplementedError skips."""
        return Run(repr(fn), self.dtype, self.scope, self.name).judge(self, fn)

    def judge(self, output: Any, attn_weights: Any = None) -> Verdict:
        """Judge results made elsewhere (a core: head_outputs in the place of output).

        Raises AssertionError with the judge's sentence, and the likely mistake where there is one.
        """
        run = Run("results", self.dtype, self.scope, self.name)
        verdict = run.judge(self, lambda **_: output if attn_weights is None else (output, attn_weights))
        if verdict.outcome == "fail":
            raise AssertionError(f"{self.name}: {verdict.reason}{run.likely_mistake()}")
        return verdict


class Run:
    """Verdicts on one implementation, and the report of them."""

    def __init__(self, kernel, dtype, scope, pattern=None, allow=()):
        self.dtype, self.scope, self.verdicts = dtype, scope, {}
        self._run = lib.checked(lib.library.qkvec_run_open(lib.corpus, kernel.encode(), dtype.encode(), scope == "core",
                                                           pattern and pattern.encode(), ",".join(allow).encode() or None, lib.error))

    def judge(self, case, fn):
        raised = []

        def kernel(call):
            c = call.contents
            try:
                number = lambda address, *shape: lib.widened(lib.view(address, c.dtype, shape), c.dtype)
                r = fn(**(_core_inputs if self.scope == "core" else _layer_inputs)(c, number))
                main = "head_outputs" if self.scope == "core" else "output"
                if not isinstance(r, Mapping):
                    r = dict(zip((main, "attn_weights"), r if isinstance(r, tuple) else (r,)))
                c.written[0] = _put_results(c, r)
                return lib.DONE
            except NotImplementedError as e:
                if c.reason and str(e):
                    C.memmove(c.reason, str(e).encode()[:255] + b"\0", min(len(str(e).encode()), 255) + 1)
                return lib.SKIP
            except BaseException as e:    # not through C: kept, and raised behind it
                raised.append(e)
                return lib.FAILED

        vector = lib.checked(lib.library.qkvec_vector_open(lib.corpus, case.name.encode(), lib.error))
        verdict = lib.Verdict()
        try:
            lib.library.qkvec_run_kernel(self._run, C.byref(verdict), vector, lib.KERNEL(kernel))
        finally:
            lib.library.qkvec_vector_close(vector)
        if raised:
            if hasattr(raised[0], "add_note"):
                raised[0].add_note(f"in the vector {case.name}")
            raise raised[0]
        self.verdicts[case.name] = _verdict(case.name, verdict)
        return self.verdicts[case.name]

    def status(self):
        return lib.library.qkvec_run_status(self._run)

    def report(self, format):
        address = lib.checked(lib.library.qkvec_run_report(self._run, format.encode(), lib.error))
        try:
            return C.string_at(address).decode()
        finally:
            lib.library.qkvec_text_free(address)

    def likely_mistake(self):
        named = json.loads(self.report("json")).get("diagnosis") or []
        return "".join(f"; likely mistake: {m['fault']}: {m['sentence']}" for m in named[:1])

    def __del__(self):
        if getattr(self, "_run", None):
            lib.library.qkvec_run_close(self._run)


def names(pattern: str = "*") -> List[str]:
    """Names of the vectors that a pattern names: category/name, a category, or a glob."""
    count = lib.library.qkvec_corpus_count(lib.corpus)
    every = [lib.library.qkvec_corpus_name(lib.corpus, k).decode() for k in range(count)]
    found = [n for n in every if n.split("/")[0] == pattern or fnmatch.fnmatchcase(n, pattern)]
    if not found:
        raise ValueError(f"{pattern}: no vector has that name, and no category")
    return found


def case(name: str, dtype: str = "float32", scope: str = "layer") -> Case:
    """The vector of that name."""
    if name not in names():
        raise ValueError(f"{name}: no vector has that name; qkvec.names() lists them")
    return Case(name, dtype, scope)


def cases(pattern: str = "*", dtype: str = "float32", scope: str = "layer") -> List[Case]:
    """A Case for each vector that the pattern names, for pytest.mark.parametrize("case", qkvec.cases(...), ids=str)."""
    return [Case(n, dtype, scope) for n in names(pattern)]
