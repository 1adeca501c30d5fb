# SPDX-License-Identifier: MIT
"""MXNet: contrib.interleaved_matmul_encdec_qk and _valatt, FullyConnected for the projections, softmax between.
Keys and values of a head lie side by side: (S,N,H,2,D)."""
import mxnet as mx
import numpy as np
import pipe


def linear(x, w, b):
    more = {"no_bias": True} if b is None else {"bias": mx.nd.array(b)}
    return mx.nd.FullyConnected(mx.nd.array(x), mx.nd.array(w), num_hidden=w.shape[0], flatten=False, **more).asnumpy()


def attention(case):
    case.lacks("bias_kv", "zero_attn", "empty arrays")
    N, H, L, S, mask = case.N, case.H, case.L, case.S, case.added(full=True)

    def core(q, k, v):
        queries = mx.nd.array(q.transpose(2, 0, 1, 3).reshape(L, N, case.E))
        keys_values = mx.nd.array(np.stack([k, v], 3).transpose(2, 0, 1, 3, 4).reshape(S, N, 2 * case.E))
        s = mx.nd.contrib.interleaved_matmul_encdec_qk(queries, keys_values, heads=H)
        p = mx.nd.softmax(s if mask is None else s + mx.nd.array(mask.reshape(N * H, L, S)), axis=-1)
        o = mx.nd.contrib.interleaved_matmul_encdec_valatt(keys_values, p, heads=H).asnumpy()
        return o.reshape(L, N, H, case.D).transpose(1, 2, 0, 3), {"attn_weights": p.asnumpy().reshape(N, H, L, S)}

    return case.layer(linear, core)


pipe.serve(attention, {"MXNet": mx.__version__})
