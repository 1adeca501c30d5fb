# SPDX-License-Identifier: MIT
"""The bytes of every vector written once more by savez_compressed: python savez.py VECTORS"""
import glob
import io
import sys

import numpy as np

total = 0
for path in sorted(glob.glob(sys.argv[1] + "/*/*.npz")):
    with np.load(path) as v:
        file = io.BytesIO()
        np.savez_compressed(file, **{name: v[name] for name in v.files})
    total += len(file.getvalue())
print(total)
