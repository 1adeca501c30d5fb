# SPDX-License-Identifier: MIT
"""Golden vectors for attention, and the judge: is this implementation right, and if not, what is the mistake?

    import qkvec

    print(qkvec.check(my_layer))                            # all vectors; the report, likely mistake included
    assert qkvec.check(my_core, "mask/*", dtype="bfloat16", scope="core")
    qkvec.case("core/answer").inputs                        # {"query": (N,L,E) array, ...}
    qkvec.case("core/answer").judge(output)                 # AssertionError with what is wrong
    qkvec.cases("softmax/*")                                # for pytest.mark.parametrize(..., ids=str)
    qkvec.names("tails/*")
    qkvec.check_module(MyAttention)                         # a torch module with MultiheadAttention's signature

An implementation is a function that takes a case's inputs by name (`def f(query, key, value, **rest)`), see Case.inputs, and returns
`output`, or `(output, attn_weights)`, or a dict of stages; for a core `head_outputs` takes the place of `output`. Arrays may be
numpy's, torch's, JAX's, MLX's or anything with __array__. NotImplementedError, raised, skips a case.

The implementation runs in this process: for one that may crash or hang, use the program (`qkvec check --kernel`, `--command`).
"""
from ._cases import Case, Verdict, case, cases, names
from ._library import library as _library
from ._module import check_module
from ._report import Report, check

__version__ = _library.qkvec_library_version().decode()
__all__ = ["Case", "Report", "Verdict", "case", "cases", "check", "check_module", "names"]
