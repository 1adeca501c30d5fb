# SPDX-License-Identifier: MIT
"""Every exported model is valid, loads in old runtimes as far as its operators exist there, and its test passes, by onnx's own
runner, in both runtimes: no honest failure, whatever the kind.

    models.py QKVEC VECTORS
"""
import sys
import tempfile
import unittest

from backends import BACKENDS, export, onnx, tensors
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test import runner


class FolderRunner(runner.Runner):
    """onnx's runner, which knows five folders by name, on a folder of ours"""
    def __init__(self, backend, root, kind):
        known, runner.load_model_tests = runner.load_model_tests, lambda **_: []
        try:
            super().__init__(backend, __name__)
        finally:
            runner.load_model_tests = known
        for test in load_model_tests(data_dir=root, kind=kind):
            self._add_model_test(test, kind.title().replace("_", ""))


def main(qkvec, vectors):
    # layer and judged_layer: opset 17 and IR 8 are those of onnx 1.12 (2022); the operator Attention begins with opset 23
    versions = {"layer": (8, 17), "judged_layer": (8, 17), "core": (10, 23)}
    wrong = 0
    with tempfile.TemporaryDirectory() as root:
        kinds = export(qkvec, vectors, root)
        if set(kinds) != set(versions):
            sys.exit(f"found the kinds {sorted(kinds)}, wanted {sorted(versions)}")
        for kind, folders in kinds.items():
            for folder in folders:
                model = onnx.load(str(folder / "model.onnx"))
                onnx.checker.check_model(model, full_check=True)
                found = model.ir_version, model.opset_import[0].version
                if found != versions[kind]:
                    wrong += 1
                    print(f"{folder.name}: found IR and opset {found}, wanted {versions[kind]}")
                for file in (folder / "test_data_set_0").glob("*.pb"):    # onnx writes the same bytes
                    tensor = onnx.load_tensor(str(file))
                    again = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name)
                    if again.SerializeToString() != file.read_bytes():
                        wrong += 1
                        print(f"{file}: other bytes than onnx's own")
                if kind == "judged_layer" and not all(x.all() for x in tensors(folder, "output")):
                    wrong += 1
                    print(f"{folder.name}: an expected verdict is false")
            for backend in BACKENDS:
                suite = unittest.TestSuite()
                for case in FolderRunner(backend, root, kind).test_cases.values():
                    suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
                result = unittest.TextTestRunner(verbosity=0, stream=sys.stderr).run(suite)
                bad = len(result.failures) + len(result.errors)
                ran = result.testsRun - len(result.skipped)
                print(f"{kind} in {backend.__name__}: {ran - bad} of {ran} pass")
                wrong += bad + (ran < len(folders))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
