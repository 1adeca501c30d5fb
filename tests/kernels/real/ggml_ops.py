# SPDX-License-Identifier: MIT
"""ggml's CPU backend through ctypes, from the libggml*.so of a directory given as argument 2: "soft_max_ext"
(mul_mat, soft_max_ext, mul_mat), "flash_attn_ext" with k and v in the case's type, "flash_attn_ext_f16" with k and v
in float16 as llama.cpp keeps them. flash_attn_ext takes its mask in float16 only."""
import ctypes as C
import glob
import os
import sys
import numpy as np
import pipe

PATH, where = sys.argv.pop(1), sys.argv.pop(1)
base, cpu = (C.CDLL(sorted(glob.glob(os.path.join(where, f"libggml-{part}.so*")))[0], C.RTLD_GLOBAL) for part in ("base", "cpu"))
TYPES = {np.dtype("f4"): 0, np.dtype("f2"): 1}


class Params(C.Structure):
    _fields_ = [("size", C.c_size_t), ("buffer", C.c_void_p), ("no_alloc", C.c_bool)]


def op(name, *args, floats=(), library=base, result=C.c_void_p):
    f = getattr(library, "ggml_" + name)
    f.restype = result
    return f(*[C.c_void_p(a) for a in args], *[C.c_float(x) for x in floats])


def compute(build, *arrays):
    """build(ctx, tensors) gives a tensor; what it holds after a run, flat."""
    base.ggml_init.restype, base.ggml_init.argtypes = C.c_void_p, [Params]
    ctx = base.ggml_init(Params(64 << 20 | sum(a.nbytes for a in arrays) * 16, None, False))
    tensors = []
    for a in arrays:
        shape = a.shape[::-1] + (1,) * (4 - a.ndim)
        f = base.ggml_new_tensor_4d
        f.restype = C.c_void_p
        tensors.append(f(C.c_void_p(ctx), TYPES[a.dtype], *[C.c_int64(n) for n in shape]))
        C.memmove(op("get_data", tensors[-1]), np.ascontiguousarray(a).ctypes.data, a.nbytes)
    y = build(ctx, tensors)
    graph = op("new_graph", ctx)
    op("build_forward_expand", graph, y, result=None)
    cpu.ggml_graph_compute_with_ctx(C.c_void_p(ctx), C.c_void_p(graph), 1)
    n = op("nelements", y, result=C.c_int64)
    out = np.ctypeslib.as_array(C.cast(op("get_data", y), C.POINTER(C.c_float)), (n,)).copy()
    op("free", ctx, result=None)
    return out


def linear(x, w, b):
    def build(ctx, t):
        y = op("mul_mat", ctx, t[1], t[0])
        return y if b is None else op("add", ctx, y, t[2])
    return compute(build, *(a.astype("f4") for a in (x, w, b) if a is not None)).reshape(x.shape[:-1] + w.shape[:1])


def attention(case):
    case.lacks("bias_kv", "zero_attn", "empty arrays", dtypes=("float32", "float16") if PATH.endswith("f16") else ("float32",))
    mask = case.added(full=True)

    def core(q, k, v):
        none, scale = C.c_void_p(None), case.D ** -0.5
        if PATH == "soft_max_ext":
            def build(ctx, t):
                f = base.ggml_soft_max_ext
                f.restype = C.c_void_p
                p = f(C.c_void_p(ctx), C.c_void_p(op("mul_mat", ctx, t[1], t[0])), C.c_void_p(t[3]) if len(t) > 3 else none, C.c_float(scale), C.c_float(0))
                return op("mul_mat", ctx, op("cont", ctx, op("transpose", ctx, t[2])), p)
            return compute(build, *[q, k, v] + ([] if mask is None else [mask])).reshape(q.shape)
        half = (lambda x: x.astype("f2")) if PATH.endswith("f16") else lambda x: x

        def build(ctx, t):
            f = base.ggml_flash_attn_ext
            f.restype = C.c_void_p
            return f(*[C.c_void_p(x) for x in (ctx, *t[:3])], C.c_void_p(t[3]) if len(t) > 3 else none, C.c_float(scale), C.c_float(0), C.c_float(0))
        with np.errstate(over="ignore"):
            y = compute(build, *[q, half(k), half(v)] + ([] if mask is None else [mask.astype("f2")]))
        return y.reshape(case.N, case.L, case.H, case.D).swapaxes(1, 2)

    return case.layer(linear, core)


base.ggml_version.restype = C.c_char_p
pipe.serve(attention, {"ggml": base.ggml_version().decode()})
