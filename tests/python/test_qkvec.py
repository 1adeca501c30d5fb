# SPDX-License-Identifier: MIT
"""The package qkvec: verdicts, names, errors, pytest."""
import json
import os
import pathlib
import re
import subprocess
import sys

import implementations as im
import numpy as np
import pytest
import qkvec

HERE = pathlib.Path(__file__).parent


def test_right_functions_are_conformant():
    for fn, scope in ((im.core, "core"), (im.layer, "layer")):
        report = qkvec.check(fn, scope=scope)
        assert report, str(report)
        assert report.status == 0 and not report.failed and len(report.passed) + len(report.skipped) == len(qkvec.names())
        assert "conformant" in str(report).splitlines()[-1]


def test_a_wrong_function_is_named():
    report = qkvec.check(im.core_without_scale, "core", scope="core")
    assert not report and report.status == 1 and report.failed
    assert "scale_none" in str(report)
    assert json.loads(report.format("json"))["diagnosis"][0]["fault"] == "scale_none"
    assert report.format("junit").startswith("<?xml") and report.format("tap").startswith("TAP version 13")


def test_a_pattern_is_said():
    report = qkvec.check(im.core, "core/*", scope="core")
    assert report and "pattern core/*" in str(report)


def test_half_precision():
    for dtype in "bfloat16", "float16":
        report = qkvec.check(im.core_in_bfloat16, "core", dtype=dtype, scope="core")
        assert report, str(report)
        x = qkvec.case("core/answer", dtype, "core").inputs["q_heads"]
        assert x.dtype == np.float32
        if dtype == "float16":
            assert (x == x.astype(np.float16).astype(np.float32)).all()
        else:
            assert not (x.view(np.uint32) & 0xffff).any()
    assert qkvec.case("core/answer", "float64").inputs["query"].dtype == np.float64


def test_skips_weaken_the_verdict():
    report = qkvec.check(im.core_of_plain_cases, "mask", scope="core")
    assert report.skipped and "no masks here" in report.verdicts[report.skipped[0]].reason


def test_policies():
    def mean_rows(q_heads, k_heads, v_heads, mask):
        output, weights = im.core(q_heads, k_heads, v_heads, mask)
        closed = np.isnan(weights) & (False if mask is None else np.isneginf(mask).all(-1, keepdims=True))
        weights = np.where(closed, np.float32(1) / weights.shape[-1], weights)
        return weights @ v_heads, weights

    report = qkvec.check(mean_rows, "fully_masked", scope="core")
    assert not report and report.failed and "mean of the values" in str(report)
    assert qkvec.check(mean_rows, "fully_masked", scope="core", allow=["mean_rows"])
    with pytest.raises(ValueError, match="no_such: no such policy; wanted"):
        qkvec.check(mean_rows, "fully_masked", scope="core", allow=["no_such"])

    def now_and_then(q_heads, **rest):
        output, weights = im.core(q_heads, **rest)
        return (output, weights) if q_heads.shape[0] == 2 else (np.nan_to_num(output), np.nan_to_num(weights))

    report = qkvec.check(now_and_then, "fully_masked", scope="core")
    assert not report and report.failed


def test_inputs():
    i = qkvec.case("mask/attn_2d_bool").inputs
    assert i["attn_mask"].dtype == bool and i["attn_mask"].shape == (i["query"].shape[1], i["key"].shape[1])
    assert i["bias_k"] is None and isinstance(i["num_heads"], int)
    assert qkvec.case("core/answer", scope="core").inputs["mask"] is None
    i["query"][:] = 0                                            # a copy
    assert qkvec.case("mask/attn_2d_bool").inputs["query"].any()


def test_case_judge():
    case = qkvec.case("core/answer", scope="core")
    verdict = case.judge(*im.core(**case.inputs))
    assert verdict.outcome == "pass" and verdict.error_sigma < 8 and verdict.stage
    with pytest.raises(AssertionError, match="core/answer: head_outputs.*beyond 8 sigma.*likely mistake: all_zero"):
        case.judge(np.zeros_like(im.core(**case.inputs)[0]))


def test_errors():
    with pytest.raises(ValueError, match="no/such: no vector has that name"):
        qkvec.case("no/such")
    with pytest.raises(ValueError, match="no_such"):
        qkvec.names("no_such")
    with pytest.raises(ValueError, match="int8.*wanted.*float64"):
        qkvec.check(im.core, "core", dtype="int8", scope="core")
    with pytest.raises(ValueError, match="found the scope 'middle'"):
        qkvec.cases("core", scope="middle")
    with pytest.raises(ValueError, match=r"head_outputs has the shape \(1,\), wanted"):
        qkvec.case("core/answer", scope="core").judge(np.zeros(1))
    with pytest.raises(ValueError, match="found the result 'nonsense'"):
        qkvec.check(lambda **_: {"nonsense": 1}, "core/answer", scope="core")
    with pytest.raises(ZeroDivisionError):
        qkvec.check(lambda **_: 1 / 0, "core/answer", scope="core")


def test_torch():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    F = torch.nn.functional
    report = qkvec.check_module(torch.nn.MultiheadAttention, "core")
    assert report, str(report)

    class Mine(torch.nn.Module):
        def __init__(self, embed_dim, num_heads):
            super().__init__()
            self.h = num_heads
            self.wq, self.wk, self.wv, self.wo = (torch.nn.Linear(embed_dim, embed_dim) for _ in range(4))

        def forward(self, query, key, value):
            q, k, v = (l(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for l, x in ((self.wq, query), (self.wk, key), (self.wv, value)))
            return self.wo(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    report = qkvec.check_module(Mine, "c*")
    assert report and report.passed and report.skipped, str(report)
    sdpa = lambda q_heads, k_heads, v_heads, mask: F.scaled_dot_product_attention(
        *(torch.from_numpy(x).bfloat16() for x in (q_heads, k_heads, v_heads)), attn_mask=None if mask is None else torch.from_numpy(mask).bfloat16())
    assert qkvec.check(sdpa, "mask", dtype="bfloat16", scope="core")
    with pytest.raises(TypeError, match="wanted its class"):
        qkvec.check_module(Mine(8, 2))


def test_jax():
    jax = pytest.importorskip("jax")
    to = lambda x: jax.numpy.asarray(x).transpose(0, 2, 1, 3)
    fn = lambda q_heads, k_heads, v_heads, mask: to(jax.nn.dot_product_attention(
        to(q_heads), to(k_heads), to(v_heads), bias=None if mask is None else jax.numpy.asarray(mask)))
    assert qkvec.check(fn, "core/answer", scope="core")


def pytest_run(*arguments):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]), PYTEST_ADDOPTS="")
    plugin = [] if any(n == "qkvec" for n in installed_plugins()) else ["-p", "qkvec.plugin"]
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *arguments],
                          cwd=HERE.parent / "python" / "plugin", env=environment, capture_output=True, text=True)


def installed_plugins():
    from importlib.metadata import entry_points

    found = entry_points()
    return [e.name for e in (found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", []))]


def test_plugin():
    right = pytest_run("--qkvec", "implementations:core", "--qkvec-scope", "core")
    assert right.returncode == 0, right.stdout + right.stderr
    counts = {what: int(n) for n, what in re.findall(r"(\d+) (passed|skipped)", right.stdout.splitlines()[-1])}
    assert counts["passed"] > 100 and sum(counts.values()) == len(qkvec.names())
    wrong = pytest_run("--qkvec", "implementations:core_without_scale", "--qkvec-scope", "core", "--qkvec-vectors", "core")
    assert wrong.returncode == 1 and "scale_none" in wrong.stdout and "FAILED" in wrong.stdout
    assert f"{wrong.stdout.count('FAILED')} failed" in wrong.stdout
    both = pytest_run("test_with_cases.py")
    assert both.returncode == 0, both.stdout + both.stderr
    assert pytest_run("--qkvec", "implementations:none_such").returncode == 4


def test_program():
    program = os.environ.get("QKVEC_PROGRAM")
    command = [sys.executable, "-m", "qkvec"] if program is None or os.path.exists(program) else pytest.skip("no program")
    out = subprocess.run([*command, "check", "core"], capture_output=True, text=True)
    assert out.returncode == 0 and "conformant" in out.stdout, out.stderr
