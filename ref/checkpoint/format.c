/* SPDX-License-Identifier: MIT */
/* Files of weights in formats that are not read, known by how they begin, and
 * the line that converts each. */
#include <stdio.h>
#include <string.h>

#include "checkpoint.h"

static const struct {
    const char *bytes;
    size_t length;
    const char *name, *line;
} magics[] = {
    { "\x89HDF\r\n\x1a\n", 8, "an HDF5 file (.h5 of Keras)",
      "import h5py, numpy as np; a = {}; h5py.File(\"FILE\").visititems(lambda n, o: a.update({n: o[()]}) if hasattr(o, \"dtype\") else None); "
      "np.savez(\"F.npz\", **a)" },
    { "GGUF", 4, "a GGUF file (llama.cpp)",
      "import numpy as np, gguf; np.savez(\"F.npz\", **{t.name: gguf.dequantize(t.data, t.tensor_type) for t in gguf.GGUFReader(\"FILE\").tensors})" },
    { "\x93NUMPY", 6, "a single .npy array", "import numpy as np; np.savez(\"F.npz\", **{\"self_attn.in_proj_weight\": np.load(\"FILE\")})" },
};

static const char flax[] = "import numpy as np; from flax import serialization as s, traverse_util as t; "
                           "np.savez(\"F.npz\", **t.flatten_dict(s.msgpack_restore(open(\"FILE\", \"rb\").read()), sep=\"/\"))";
static const char onnx[] = "import numpy as np, onnx; np.savez(\"F.npz\", **{t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(\"FILE\").graph.initializer})";

/* A map of msgpack (fixmap, map 16, map 32) whose first key is a string. */
static int is_msgpack(const unsigned char *b, size_t length)
{
    size_t at = b[0] > 0x80 && b[0] <= 0x8f ? 1 : b[0] == 0xde ? 3 : b[0] == 0xdf ? 5 : 0;

    return at && at < length && ((b[at] >= 0xa0 && b[at] <= 0xbf) || b[at] == 0xd9);
}

/* A ModelProto of ONNX: ir_version, then producer_name, or the next fields. */
static int is_onnx(const unsigned char *b, size_t length)
{
    return length > 4 && b[0] == 0x08 && b[1] >= 3 && b[1] <= 20 && (b[2] == 0x12 || b[2] == 0x3a || b[2] == 0x42);
}

const char *format_refuse(const unsigned char *b, size_t length, char error[SENTENCE])
{
    const char *name = NULL, *line = NULL;

    for (size_t k = 0; k < sizeof magics / sizeof *magics; k++)
        if (length >= magics[k].length && !memcmp(b, magics[k].bytes, magics[k].length)) {
            name = magics[k].name;
            line = magics[k].line;
        }
    if (!name && length && is_msgpack(b, length)) {
        name = "a msgpack file (Flax)";
        line = flax;
    }
    if (!name && length && is_onnx(b, length)) {
        name = "an ONNX file";
        line = onnx;
    }
    return name ? say(error, SENTENCE, "%s, which is not read; convert it in Python: %s", name, line) : NULL;
}
