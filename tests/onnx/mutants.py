# SPDX-License-Identifier: MIT
"""Wrong models are rejected by the judge inside them: five mistakes, each planted in every model that it can be planted in.

    mutants.py QKVEC VECTORS
"""
import sys
import tempfile

from backends import Runtime, export, np, onnx, tensors


def nodes(model, operator):
    return [n for n in model.graph.node if n.op_type == operator]


def scale_twice(model):
    """scores are divided by head_dim in place of its square root"""
    name = nodes(model, "Mul")[0].input[1]
    for x in model.graph.initializer:
        if x.name == name:
            value = onnx.numpy_helper.to_array(x)
            x.CopyFrom(onnx.numpy_helper.from_array(value * value, name))
            return value != 1


def values_are_keys(model):
    """the keys are mixed in place of the values"""
    mix = nodes(model, "MatMul")[-2]
    k_t = next(n for n in nodes(model, "Transpose") if n.output[0] == nodes(model, "MatMul")[3].input[1])
    mix.input[1] = k_t.input[0]
    return True


def softmax_over_queries(model):
    """the softmax is over the queries"""
    nodes(model, "Softmax")[0].attribute[0].i = 2
    return True


def mask_lost(model):
    """a mask is not added"""
    for n in nodes(model, "Add"):
        if any(i.name in ("attn_mask", "key_padding_mask") for i in model.graph.input) and n.input[0] == nodes(model, "Mul")[0].output[0]:
            n.op_type = "Identity"
            del n.input[1]
            return True
    return False


def weight_off(model):
    """one weight of out_proj is off by a thousandth of the largest"""
    for x in model.graph.initializer:
        if x.name == "out_proj.weight":
            value = onnx.numpy_helper.to_array(x).copy()
            value.flat[0] += abs(value).max() * 2**-10
            x.CopyFrom(onnx.numpy_helper.from_array(value, x.name))
            return value.flat[0] != 0


def rejected(model, inputs):
    return not all(x.all() for x in Runtime.prepare(model).run(inputs))


def main(qkvec, vectors):
    wrong = 0
    with tempfile.TemporaryDirectory() as root:
        folders = export(qkvec, vectors, root, "core", "mask", "causal", "softmax", "layout")["judged_layer"]
        for plant in scale_twice, values_are_keys, softmax_over_queries, mask_lost, weight_off:
            planted = found = 0
            for folder in folders:
                model, inputs = onnx.load(str(folder / "model.onnx")), tensors(folder, "input")
                if rejected(model, inputs):
                    wrong += 1
                    print(f"{folder.name}: rejected without a mistake")
                if plant(model):
                    planted += 1
                    try:
                        found += rejected(model, inputs)
                    except Exception:    # kdim is not vdim: the shapes do not fit, which is a rejection too
                        found += 1
            print(f"{plant.__doc__}: rejected {found} of {planted}")
            # not every vector can show every mistake, but most do
            wrong += not planted or found < 0.6 * planted
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
