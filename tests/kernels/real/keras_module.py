# SPDX-License-Identifier: MIT
"""keras.layers.MultiHeadAttention of Keras 3 (backend from KERAS_BACKEND), or of Keras 2 ("keras2"): "scores"
(return_attention_scores=True) or "output" (False: another path). A bool attention_mask is true where a query sees a key."""
import os
import sys
import numpy as np
import pipe

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
PATH = sys.argv.pop(1) if len(sys.argv) > 1 else "scores"
if PATH == "keras2":
    import tensorflow as tf
    import tf_keras as keras
    versions = {"tf_keras": keras.__version__, "TensorFlow": tf.__version__}
else:
    import keras
    backend = __import__(keras.backend.backend())
    versions = {"Keras": keras.__version__, backend.__name__: backend.__version__}
if versions.get("jax"):
    backend.config.update("jax_enable_x64", True)


def attention(case):
    case.lacks("bias_kv", "zero_attn", "float mask", "layer with out_proj.bias alone", dtypes=("float16", "bfloat16", "float32", "float64"))
    E, H, D = case.E, case.H, case.D
    layer = keras.layers.MultiHeadAttention(num_heads=H, key_dim=D, use_bias=case.out_bias is not None, output_shape=E, dtype=case.dtype)
    tensor = (lambda x: tf.cast(x, case.dtype)) if PATH == "keras2" else (lambda x: keras.ops.convert_to_tensor(x, case.dtype))
    q, k, v = (tensor(x) for x in (case.query, case.key, case.value))
    if PATH == "keras2":
        layer(q[:, :0], v[:, :0], k[:, :0])                                     # makes the weights
    else:
        layer.build(q.shape, v.shape, k.shape)
    weights = []
    for w, b in zip(case.weight, case.bias):
        weights += [w.T.reshape(-1, H, D)] + ([] if b is None else [b.reshape(H, D)])
    layer.set_weights(weights + [case.out_weight.T.reshape(H, D, E)] + ([] if case.out_bias is None else [case.out_bias]))
    mask = case.keep(full=True)
    result = layer(q, v, k, attention_mask=mask, return_attention_scores=PATH != "output")
    numpy = lambda x: np.asarray(keras.ops.convert_to_numpy(x) if PATH != "keras2" else x.numpy(), np.float64 if case.dtype == "float64" else np.float32)
    return {"output": numpy(result)} if PATH == "output" else {"output": numpy(result[0]), "attn_weights": numpy(result[1])}


pipe.serve(attention, versions)
