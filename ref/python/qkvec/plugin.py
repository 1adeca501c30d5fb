# SPDX-License-Identifier: MIT
"""pytest --qkvec module:function: one test for each vector, no test file needed; the likely mistake in the summary."""
import importlib
import sys

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("qkvec", "golden vectors for attention")
    group.addoption("--qkvec", metavar="MODULE:FUNCTION", help="judge this attention by the golden vectors, one test for each")
    group.addoption("--qkvec-profile", metavar="P", default="float32", help="float64, float32, tf32, float16 or bfloat16 (default float32)")
    group.addoption("--qkvec-scope", metavar="S", default="layer", help="layer, or core: it starts from q_heads, k_heads, v_heads and mask")
    group.addoption("--qkvec-vectors", metavar="PATTERN", default="*", help="a name, a category or a glob (default all)")


class Failure(AssertionError):
    pass


class VectorItem(pytest.Item):
    def __init__(self, *, case, suite, **kw):
        super().__init__(**kw)
        self.case, self.suite = case, suite

    def runtest(self):
        verdict = self.suite.run.judge(self.case, self.suite.function)
        if verdict.outcome == "skip":
            pytest.skip(verdict.reason)
        if verdict.outcome != "pass":
            raise Failure(f"{self.case.name}: {verdict.reason}")

    def repr_failure(self, excinfo):
        return str(excinfo.value) if excinfo.errisinstance(Failure) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, f"qkvec {self.case.name}"


class Suite:
    """The function that was asked for, and what the judge says of it so far."""

    def __init__(self, config):
        from ._cases import Run, cases

        module, _, name = config.getoption("--qkvec").partition(":")
        if not name:
            raise pytest.UsageError(f"--qkvec {module}: wanted MODULE:FUNCTION")
        if str(config.rootpath) not in sys.path:
            sys.path.insert(0, str(config.rootpath))
        try:
            self.function = getattr(importlib.import_module(module), name)
            self.cases = cases(config.getoption("--qkvec-vectors"), config.getoption("--qkvec-profile"), config.getoption("--qkvec-scope"))
        except (ImportError, AttributeError, ValueError) as e:
            raise pytest.UsageError(f"--qkvec: {e}") from e
        self.run = Run(config.getoption("--qkvec"), config.getoption("--qkvec-profile"), config.getoption("--qkvec-scope"),
                       None if config.getoption("--qkvec-vectors") == "*" else config.getoption("--qkvec-vectors"))


def pytest_collection(session):
    if session.config.getoption("--qkvec") and not session.config.args_source.name == "ARGS":
        session.config.args = []    # only the vectors, unless files were named


def pytest_collection_modifyitems(session, config, items):
    if config.getoption("--qkvec"):
        config.qkvec = Suite(config)
        items += [VectorItem.from_parent(session, name=f"qkvec::{c.name}", case=c, suite=config.qkvec) for c in config.qkvec.cases]


def pytest_terminal_summary(terminalreporter, config):
    suite = getattr(config, "qkvec", None)
    if suite and suite.run.verdicts:
        terminalreporter.section("qkvec")
        terminalreporter.write_line(suite.run.report("text").rstrip("\n"))
