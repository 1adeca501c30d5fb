# SPDX-License-Identifier: MIT
"""Many cases, one report."""
import dataclasses
import json
from typing import Any, Callable, Dict, Iterable

from ._cases import Case, Run, Verdict, cases


class Report:
    """What check() found. True where the implementation is conformant; printed, the text report with the likely mistake at its end.

    verdicts: {name: Verdict}; status: 0 conformant, 1 not conformant, 2 nothing was judged.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.verdicts: Dict[str, Verdict] = run.verdicts
        self.status: int = run.status()
        if self.status == 1:    # a vector that passed alone may fail in the run, which has to keep to one policy
            for r in json.loads(self.format("json"))["results"]:
                if r["verdict"] != self.verdicts[r["vector"]].outcome and r["verdict"] == "fail":
                    self.verdicts[r["vector"]] = dataclasses.replace(self.verdicts[r["vector"]], outcome="fail", reason=r["reason"])

    def __bool__(self) -> bool:
        return self.status == 0

    def __str__(self) -> str:
        return self.format("text").rstrip("\n")

    def format(self, name: str) -> str:
        """The report as `qkvec check --format` writes it: "text", "json", "junit" or "tap"."""
        return self._run.report(name)

    def _named(self, outcome):
        return [n for n, v in self.verdicts.items() if v.outcome == outcome]

    passed = property(lambda self: self._named("pass"), doc="names of the vectors that passed")
    failed = property(lambda self: self._named("fail"), doc="names of those that failed")
    skipped = property(lambda self: self._named("skip"), doc="names of those that were skipped")


def check_cases(fn: Callable[..., Any], chosen: Iterable[Case], run: Run) -> Report:
    for c in chosen:
        run.judge(c, fn)
    return Report(run)


def check(fn: Callable[..., Any], pattern: str = "*", dtype: str = "float32", scope: str = "layer", *,
          allow: Iterable[str] = ()) -> Report:
    """Judge fn by the vectors that the pattern names (default: all).

    fn(**inputs) returns what Case.inputs and the package's docstring say. What it raises is raised here, with the case's name;
    NotImplementedError skips the case. Raises ValueError for an unknown pattern, dtype or scope, and for results of another shape.
    allow: policies that are accepted too, such as "mean_rows" (JAX, MLX: a row without an open key is the mean of the values).
    """
    run = Run(getattr(fn, "__qualname__", type(fn).__name__), dtype, scope, None if pattern == "*" else pattern, allow)
    return check_cases(fn, cases(pattern, dtype, scope), run)
