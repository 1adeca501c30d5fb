# SPDX-License-Identifier: MIT
"""Numbers out of (vector, tensor, index) by integer arithmetic, so that any version anywhere makes the same."""
import numpy as np

_MASK = (1 << 64) - 1


def _fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 & _MASK
    return h


def words(vector, tensor, count):
    """count 64-bit words: splitmix64, seeded with FNV-1a of the two names."""
    with np.errstate(over="ignore"):
        z = np.uint64(_fnv1a(f"{vector}/{tensor}")) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def normal(vector, tensor, shape):
    """Nearly normal, mean 0 and variance 1: a sum of twelve 16-bit numbers, exact in float64."""
    count = int(np.prod(shape))
    chunks = words(vector, tensor, 3 * count).view("<u2").reshape(count, 12)
    return ((chunks.astype(np.int64).sum(axis=1) - 6 * 65535) / 65536).reshape(shape)


def integers(vector, tensor, shape, low, high):
    """Whole numbers from low to high, both included."""
    w = words(vector, tensor, int(np.prod(shape)))
    return ((w >> np.uint64(32)) % np.uint64(high - low + 1)).astype(np.int64).reshape(shape) + low


def grid(x, std):
    """x * std on a dyadic grid of at most 255 steps either way: k/64 for the usual std."""
    step = 2.0 ** -6
    while 255 * step < 3.9 * std:
        step *= 2
    while std < 8 * step:
        step /= 2
    return np.clip(np.rint(x * std / step), -255, 255) * step


def eight_bits(x):
    """Round to 8 significant bits, what bfloat16 holds; NaN and infinity stay."""
    m, e = np.frexp(x)
    return np.ldexp(np.rint(m * 256) / 256, e)
