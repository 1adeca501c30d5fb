# SPDX-License-Identifier: MIT
"""Exported folders, and two runtimes to run them in: onnx's reference evaluator and ONNX Runtime."""
import pathlib
import subprocess
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx.backend.base import Backend, BackendRep
    from onnx.reference import ReferenceEvaluator
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)

onnxruntime.set_default_logger_severity(4)


def export(qkvec, vectors, to, *patterns):
    """the folders of qkvec export --onnx below to -> {kind: [folder, ...]}"""
    subprocess.run([qkvec, "export", "--vectors", vectors, "--onnx", to, *patterns], check=True, stdout=subprocess.DEVNULL)
    return {kind.name: sorted(kind.iterdir()) for kind in sorted(pathlib.Path(to).iterdir())}


def tensors(folder, what):
    """input_0.pb, input_1.pb, ... -> arrays"""
    files = sorted((folder / "test_data_set_0").glob(f"{what}_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    return [onnx.numpy_helper.to_array(onnx.load_tensor(str(f))) for f in files]


class Rep(BackendRep):
    def __init__(self, run):
        self._run = run

    def run(self, inputs, **kwargs):
        return self._run(inputs)


class Reference(Backend):
    @classmethod
    def supports_device(cls, device):
        return device == "CPU"

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        names = [i.name for i in model.graph.input]
        evaluator = ReferenceEvaluator(model)
        return Rep(lambda inputs: evaluator.run(None, dict(zip(names, inputs))))


class Runtime(Reference):
    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        names = [i.name for i in model.graph.input]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return Rep(lambda inputs: session.run(None, dict(zip(names, inputs))))


BACKENDS = Reference, Runtime
