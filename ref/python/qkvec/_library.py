# SPDX-License-Identifier: MIT
"""libqkvec by ctypes: the structures of qkvec/qkvec.h and qkvec/kernel.h, and numbers in their types."""
import ctypes as C
import os
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
SKIP, FAILED, DONE = 1, -1, 0
OUTPUTS = (("output", 1), ("attn_weights", 2), ("attn_weights_mean", 4), ("head_outputs", 8))    # name, bit of written


class Array(C.Structure):
    _fields_ = [("name", C.c_char_p), ("dtype", C.c_uint32), ("ndim", C.c_int), ("shape", C.c_int64 * 4), ("data", C.c_void_p)]


class Call(C.Structure):
    """struct qkvec_call, ABI 1"""
    _fields_ = ([(n, C.c_uint32) for n in ("abi", "size", "dtype", "flags")]
                + [(n, C.c_int64) for n in ("N", "L", "S", "Sx", "E", "Ek", "Ev", "H")]
                + [(n, C.c_void_p) for n in ("query", "key", "value", "in_proj_weight", "q_weight", "k_weight", "v_weight", "in_proj_bias",
                                             "out_weight", "out_bias", "bias_k", "bias_v", "attn_mask", "key_padding_mask")]
                + [(n, C.c_uint32) for n in ("attn_mask_ndim", "attn_mask_dtype", "padding_dtype", "reserved")]
                + [(n, C.c_void_p) for n in ("mask", "q_heads", "k_heads", "v_heads",
                                             "output", "attn_weights", "attn_weights_mean", "head_outputs")]
                + [("written", C.POINTER(C.c_uint32)), ("reason", C.c_void_p)])


class Verdict(C.Structure):
    """struct qkvec_verdict"""
    _fields_ = [("outcome", C.c_int), ("meets", C.c_char_p), ("policy", C.c_char_p), ("first_wrong", C.c_char_p), ("noise", C.c_double),
                ("stage", C.c_char_p), ("ndim", C.c_int), ("index", C.c_int64 * 4), ("got", C.c_double), ("expected", C.c_double),
                ("sigma", C.c_double), ("error_sigma", C.c_double), ("reason", C.c_char * 512)]


KERNEL = C.CFUNCTYPE(C.c_int, C.POINTER(Call))


def _open_library():
    path = os.environ.get("QKVEC_LIBRARY") or next(map(str, HERE.glob("libqkvec.*")), "libqkvec.so")
    library = C.CDLL(path)
    pointer, text = C.c_void_p, C.c_char_p
    for name, result, *arguments in (
            ("qkvec_library_version", text),
            ("qkvec_corpus_open", pointer, text, text), ("qkvec_corpus_version", text, pointer),
            ("qkvec_corpus_count", C.c_size_t, pointer), ("qkvec_corpus_name", text, pointer, C.c_size_t),
            ("qkvec_vector_open", pointer, pointer, text, text), ("qkvec_vector_close", None, pointer),
            ("qkvec_vector_member", C.c_int, C.POINTER(Array), pointer, text),
            ("qkvec_run_open", pointer, pointer, text, text, C.c_int, text, text, text), ("qkvec_run_close", None, pointer),
            ("qkvec_run_kernel", C.c_int, pointer, C.POINTER(Verdict), pointer, KERNEL),
            ("qkvec_run_status", C.c_int, pointer), ("qkvec_run_report", pointer, pointer, text, text), ("qkvec_text_free", None, pointer)):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _open_library()
error = C.create_string_buffer(1024)    # QKVEC_SENTENCE


def checked(handle):
    """a handle that a function returned, or its error message as ValueError"""
    if not handle:
        raise ValueError(error.value.decode())
    return handle


def _open_corpus():
    own = HERE / "vectors"
    where = os.environ.get("QKVEC_VECTORS") or (str(own) if own.is_dir() else None)
    return checked(library.qkvec_corpus_open(where and where.encode(), error))


corpus = _open_corpus()

# ---- numbers: what a kernel is given, and what it returns ----

FLOAT32, FLOAT64, FLOAT16, BFLOAT16, BOOL = range(5)    # enum qkvec_dtype
_STORED = {FLOAT32: np.float32, FLOAT64: np.float64, FLOAT16: np.float16, BFLOAT16: np.uint16, BOOL: np.bool_}


def view(address, dtype, shape):
    """the numbers at address, as an array of their type (bfloat16: its bits); None where there are none"""
    if not address:
        return None
    kind, count = np.dtype(_STORED[dtype]), int(np.prod(shape))
    return np.frombuffer((C.c_char * max(1, count * kind.itemsize)).from_address(address), kind, count).reshape(shape)


def widened(x, dtype):
    """a copy in float32 (float64 for float64), which is exact; bool as it is"""
    if x is None or dtype == BOOL:
        return x if x is None else x.copy()
    if dtype == BFLOAT16:
        return (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64 if dtype == FLOAT64 else np.float32)


def narrowed(y, dtype):
    """float64 to the type, to nearest even; bfloat16 as its bits"""
    if dtype != BFLOAT16:
        with np.errstate(over="ignore"):
            return y.astype(_STORED[dtype])
    with np.errstate(over="ignore"):
        bits = y.astype(np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7fff) + ((bits >> 16) & np.uint32(1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(y), np.uint16(0x7fc0), rounded)


def as_numpy(y):
    """float64 numbers of a numpy, torch, JAX or MLX array, or of anything that numpy.asarray takes"""
    if hasattr(y, "detach"):                       # torch: bfloat16 has no numpy type
        y = y.detach().cpu()
        return (y.double() if y.is_floating_point() else y).numpy().astype(np.float64)
    if type(y).__module__.startswith("mlx"):       # nor has MLX's
        import mlx.core
        y = y.astype(mlx.core.float32)
    return np.asarray(y).astype(np.float64)
