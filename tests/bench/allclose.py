# SPDX-License-Identifier: MIT
"""Load every vector and apply allclose to its stages: python allclose.py VECTORS"""
import glob
import sys

import numpy as np

for path in sorted(glob.glob(sys.argv[1] + "/*/*.npz")):
    with np.load(path) as v:
        for name in v.files:
            a = v[name]
            if a.dtype == np.float64 and a.ndim and "sigma." not in name:
                assert np.allclose(a.astype(np.float32), a, equal_nan=True, rtol=1e-5), (path, name)
