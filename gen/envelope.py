# SPDX-License-Identifier: MIT
"""How far may rounding move each element of each stage?

The recipe is walked once more with a variance V beside every value.  sigma = sqrt(V) is the envelope; an element
passes when |got - golden| <= 8 sigma + floor.  docs/tolerance.md derives the terms, the comments here name them.
"""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Profile:
    name: str
    u: float            # unit roundoff of the accumulator
    s: float            # of a stored intermediate, 0 where the accumulator's type is stored
    o: float            # of a matmul operand, 0 where operands enter as they are
    floor: float        # absolute error that costs nothing
    largest: float
    bits: int           # significand of the dtype that tensors have, hidden bit included
    quantum: float      # its smallest subnormal

    # A rounding error is uniform within +-u of the value: its variance is u^2/3.
    @property
    def U(self):
        return self.u ** 2 / 3

    @property
    def T(self):
        return self.s ** 2 / 3

    @property
    def O(self):  # noqa: E743
        return self.o ** 2 / 3

    # Where hardware flushes, a number below this becomes 0; a 16-bit kernel accumulates in float32.
    @property
    def near(self):  # numbers that are so nearly equal, relatively, are rounded alike
        return 4 * max(self.u, self.s)

    @property
    def same_score(self):  # scores in one interval of this width have weights that are rounded alike
        return 1.7 * max(self.u, self.s, 2.0 ** -40)

    @property
    def tiny(self):
        return min(self.floor, 2.0 ** -124)


def _profile(name, u, s, o, floor, largest, bits, quantum):
    return name, Profile(name, 2.0 ** u, 2.0 ** s if s else 0.0, 2.0 ** o if o else 0.0, 2.0 ** floor, largest, bits, 2.0 ** quantum)


_F32_MAX = (2 - 2.0 ** -23) * 2.0 ** 127

# 16 bit: u = 2^-23 because tensor cores truncate while they accumulate; tf32: o = 2^-10 because some hardware
# truncates operands.  A tf32 tensor is stored as float32, only the multiplier sees fewer bits.
PROFILES = dict((
    _profile("float64", -53, 0, 0, -500, np.finfo(np.float64).max, 53, -1074),
    _profile("float32", -24, 0, 0, -124, _F32_MAX, 24, -149),
    _profile("tf32", -23, 0, -10, -124, _F32_MAX, 24, -149),
    _profile("float16", -23, -11, 0, -24, 65504.0, 11, -24),
    _profile("bfloat16", -23, -8, 0, -124, (2 - 2.0 ** -7) * 2.0 ** 127, 8, -133),
))


def _rounded(profile, x):
    """x to the dtype's significand, half to even, as if its range had no upper end."""
    _, exponent = np.frexp(x)
    quantum = np.maximum(np.ldexp(1.0, exponent - profile.bits), profile.quantum)
    return np.where(np.isfinite(x), np.rint(x / quantum) * quantum, x)


def round_to(profile, x):
    """x rounded to the profile's dtype, as float64; what overflows is infinite."""
    x = np.asarray(x, np.float64)
    if profile.name == "float64":
        return x
    with np.errstate(all="ignore"):
        y = _rounded(profile, x)
        return np.where(np.abs(y) > profile.largest, np.copysign(np.inf, y), y)


def _residue(profile, x):
    """rounded x - x.  Not a variance: equal values have equal residues, which add up instead of averaging out."""
    if not profile.s:
        return np.zeros_like(x)
    return np.where(np.isfinite(x), _rounded(profile, x) - x, 0.0)


def _store(profile, x):
    """An intermediate that a 16-bit kernel keeps in its own dtype; below its normal numbers the spacing no longer shrinks."""
    if not profile.s:
        return np.zeros_like(x)
    return profile.T * np.maximum(x * x, (profile.quantum / (2 * profile.s)) ** 2)


def _partial_sums(a, w):
    """Sum, sum of squares and sum of magnitudes of the partial sums of a[r] . w[c], terms in natural order.

    Rows go in blocks that stay in the cache: E = 768 against S = 4096 would otherwise stream 25 MB per term.
    """
    rows, n, cols = a.shape[0], a.shape[1], w.shape[0]
    total, squares, sizes = (np.zeros((rows, cols)) for _ in range(3))
    at_once = max(1, 16384 // max(1, cols))
    wt = np.ascontiguousarray(w.T)
    for r in range(0, rows, at_once):
        block = slice(r, r + at_once)
        left, p, p2, p1 = np.ascontiguousarray(a[block].T), total[block], squares[block], sizes[block]
        for k in range(n):
            p += left[k][:, None] * wt[k]
            p2 += p * p
            p1 += np.abs(p)
    return total, squares, sizes


LANES, LANES_LEAST = 16, 32


def _lanes(a, w):
    """The largest sum |P| by 2, 4, 8 or 16 interleaved accumulators, seen eight times on the way; 0 for short sums."""
    n, most = a.shape[1], np.zeros((a.shape[0], w.shape[0]))
    if n < LANES_LEAST:
        return most
    step = -(-(-(-n // 8)) // LANES) * LANES                                        # an eighth, in whole rounds
    lane = np.zeros((LANES, a.shape[0], w.shape[0]))
    sizes = {k: np.zeros_like(most) for k in (2, 4, 8, 16) if 3 * n > k * k}        # else no worse than any other order
    for first in range(0, n, step):
        last = min(first + step, n)
        for r in range(LANES):
            lane[r] += a[:, first + r:last:LANES] @ w[:, first + r:last:LANES].T
        merged, k = lane, LANES
        while k > 1:
            if k in sizes:
                sizes[k] += (min(last + step, n) - first) / 2 / k * np.abs(merged).sum(0)    # straight from one look to the next
            merged, k = merged[:k // 2] + merged[k // 2:], k // 2
    for size in sizes.values():
        most = np.maximum(most, size)
    return most


def _summation(profile, a, w, b=0.0):
    """Of y[r, c] = sum over k of t = a[r, k] w[c, k]:  y;  sum t^2;  V of adding them, and b, up."""
    n = a.shape[1]
    y, squares, sizes = _partial_sums(a, w)
    t2 = (a * a) @ (w * w).T
    magnitude = np.abs(a) @ np.abs(w).T
    R = n * np.maximum(np.maximum(t2, y * y), np.maximum(b * b, (y + b) ** 2))      # a rounding per term; the bias may start the sum or end it
    R = np.maximum(R, squares)                                                      # partial sums that grow large and cancel
    equal = magnitude ** 2 >= (1 - 2.0 ** -20) * n * t2                             # by Cauchy and Schwarz: equal terms
    leaning = (np.maximum(sizes, _lanes(a, w)) + n * np.abs(b)) ** 2
    R = np.maximum(R, leaning * np.where(equal, 4 / 9, 1 / 16))                     # errors that lean one way: equal terms, truncation
    R = np.maximum(R, n * magnitude ** 2 / 48)                                      # partial sums of any other order
    flushed = np.where(magnitude > 0, n * profile.tiny, 0.0)                        # each product may be flushed
    return y, t2, profile.U * R + flushed ** 2


def _nearly(profile, a, b):
    return np.abs(a - b) <= profile.near * np.maximum(np.abs(a), np.abs(b))


# ---- what is alike ----

def _groups(leader):
    """The groups of two or more members, as arrays of indices."""
    order = np.argsort(leader, kind="stable")
    cuts = np.flatnonzero(np.diff(leader[order])) + 1
    return [g for g in np.split(order, cuts) if len(g) > 1]


def _equal_rows(x, V):
    """leader[j]: the first row that differs from row j by at most one sigma in every channel, and follows nobody itself."""
    leader, leaders, sigma2 = np.arange(len(x)), [], V
    for j in range(len(x)):
        if leaders:
            near = ((x[leaders] - x[j]) ** 2 <= sigma2[leaders]).all(1)
            if near.any():
                leader[j] = leaders[int(np.argmax(near))]
                continue
        leaders.append(j)
    return leader


def _equal_numbers(profile, x):
    """leader of each channel: those that are nearly equal, up to sign; nobody's, where that could not double a sigma."""
    n, size = len(x), np.abs(np.where(np.isfinite(x), x, 0.0))
    leader, order, first, squares = np.arange(n), np.lexsort((np.arange(n), size)), 0, 0
    while first < n:
        last = first + 1
        while last < n and _nearly(profile, size[order[last]], size[order[first]]):
            last += 1
        leader[order[first:last]] = order[first:last].min()
        squares += (last - first) ** 2
        first = last
    return leader if n >= 4 and squares >= 4 * n else np.arange(n)


def _equal_scores(profile, s):
    """leader of each score of a row: those in the same interval; a masked one is alone."""
    key = np.rint(np.where(np.isfinite(s), s, 0.0) / profile.same_score)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    finite = np.isfinite(s)
    if not finite.all():
        key = np.where(finite, key, np.inf)
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return np.where(finite, first[inverse.reshape(-1)], np.arange(len(s)))


def _excess(leader, a, w, middle=0.0):
    """By how much the variance of a @ w grows if rows of a group err alike, by |a (w - middle)| each."""
    error = a[:, None] * (w - middle)
    excess = np.zeros(w.shape[1])
    for g in _groups(leader):
        excess += error[g].sum(0) ** 2 - (error[g] ** 2).sum(0)
    return np.maximum(excess, 0.0)


PATTERNS = 8


def _signs(channels):
    """Random signs (PATTERNS, channels): the bits of splitmix64."""
    with np.errstate(over="ignore"):
        z = (channels.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9e3779b97f4a7c15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
        z = z ^ z >> np.uint64(31)
    return np.array([np.where(z >> np.uint64(k) & np.uint64(1), 1.0, -1.0) for k in range(PATTERNS)])


def _patterns(leader, sigma):
    """The independent errors of a query: one pattern (D) for each group of equal channels; of more than PATTERNS, random sums."""
    first = np.unique(leader)
    if len(first) > PATTERNS:
        return _signs(leader) * sigma / np.sqrt(PATTERNS)
    return np.array([np.where(leader == d, sigma, 0.0) for d in first])


def _operand_sigma(profile, x, V):
    """Of numbers that are operands too, signed as they are."""
    return np.copysign(np.sqrt(V + profile.O * x * x), x)


def _channels_alike(profile, q, Vq, k):
    """What errors of q do to q @ k.T where equal channels of a query err alike: 0 where none are."""
    V, sigma = np.zeros((len(q), len(k))), _operand_sigma(profile, q, Vq)
    for i in range(len(q)):
        leader = _equal_numbers(profile, q[i])
        if _groups(leader):
            for d in np.unique(leader):
                V[i] += (k @ np.where(leader == d, sigma[i], 0.0)) ** 2
    return V


def _incoming(profile, a, Va, w):
    """What errors of a do to a @ w.T.  Channels that are equal, up to sign, err alike, and then the errors add up.

    A stored operand shows its error, which takes their place where the channels are not all equal.
    """
    V = Va @ (w * w).T
    root = np.sqrt(Va)
    turned = np.sign(a) * root
    if profile.s:
        equal = _nearly(profile, np.abs(a), np.abs(a[:, :1])).all(-1, keepdims=True)
        shown = _residue(profile, a)
        root, turned = np.where(equal, root, shown), np.where(equal, turned, shown)
    return np.maximum(np.maximum(V, (root @ w.T) ** 2), (turned @ w.T) ** 2)


def _flushed(profile, x):
    """What is lost of each number where those below tiny are taken as 0."""
    size = np.abs(x)
    return np.where(size < profile.tiny, size, 0.0)


def _lost_operands(profile, a, w):
    """What a @ w.T loses where operands are flushed before they are multiplied; all in one direction."""
    tiny_a, tiny_w = _flushed(profile, a), _flushed(profile, w)
    if not tiny_a.any() and not tiny_w.any():
        return 0.0
    return tiny_a @ np.abs(w).T + np.abs(a) @ tiny_w.T


def _dot(profile, a, Va, w, Vw=None, b=None):
    """a @ w.T without b, and the variance of a @ w.T + b, for a (rows, n), w (columns, n).  Vw None: exact weights."""
    y, t2, adding = _summation(profile, a, w, 0.0 if b is None else b)
    V = Va @ (w * w).T                                                              # errors that came with the operands
    if Vw is not None:                                                              # a score: both operands come from a projection
        of_a = np.maximum(_incoming(profile, a, Va, w), _channels_alike(profile, a, Va, w))
        V = of_a + _incoming(profile, w, Vw, a).T + Va @ Vw.T
    V = V + 2 * profile.O * np.maximum(t2, y * y)                                   # short operands; y^2: all terms short by the same factor
    V = V + adding
    return y, V if b is None else V + profile.U * (y + b) ** 2                      # the addition of the bias itself


def _affine(profile, x, Vx, w, b):
    """Value and variance of x @ w.T + b with exact parameters, before it is stored."""
    y, V = _dot(profile, x, Vx, w, None, b)
    V = V + _lost_operands(profile, x, w) ** 2
    if b is None:
        return y, V
    return y + b, V + profile.T * y * y                                             # kernels that store the product, then add the bias


def _projection(profile, x, w, b):
    """x (N, length, in) @ w.T + b.  Inputs and parameters are exact."""
    flat = x.reshape(-1, x.shape[-1])
    y, V = _affine(profile, flat, np.zeros_like(flat), w, b)
    return (V + _store(profile, y)).reshape(x.shape[0], x.shape[1], w.shape[0])


def _heads(V, H, length):
    """(N, S, E) -> (N, H, length, D).  Rows appended after the S real ones (bias_k, bias_v, zeros) are exact."""
    N, S, E = V.shape
    out = np.zeros((N, H, length, E // H))
    out[:, :, :S] = V.reshape(N, S, H, E // H).transpose(0, 2, 1, 3)
    return out


def _scores(profile, q, Vq, k, Vk, scores):
    """q k^T / sqrt(D) of one head."""
    D = q.shape[1]
    _, V = _dot(profile, q, Vq, k, Vk)
    V = V / D + 2 * profile.U * scores ** 2                                         # sqrt(D) and the scaling, one rounding each
    return V + _store(profile, scores)


def _mask(profile, inputs, shape, S):
    """Two float masks are added before they reach the scores: one rounding where a + b is finite.  Else exact."""
    N, H, L, _ = shape
    V = np.zeros(shape)
    a, b = inputs.get("attn_mask"), inputs.get("key_padding_mask")
    if a is None or b is None or np.asarray(a).dtype.kind != "f" or np.asarray(b).dtype.kind != "f":
        return V
    a = np.asarray(a, np.float64)
    a = a.reshape(N, H, L, S) if a.ndim == 3 else a[None, None]
    b = np.asarray(b, np.float64).reshape(N, 1, 1, S)
    rounding = profile.U * (a * a + b * b) + _store(profile, a + b)
    V[..., :S] = np.where(np.isfinite(a + b), rounding, 0.0)
    return V


def _masked_scores(profile, V, Vmask, mask, s, D):
    """scores + mask: the addition rounds again."""
    V = V + Vmask + profile.U * s * s + _store(profile, s)
    V = V + profile.U * D * np.where(np.isfinite(mask), mask, 0.0) ** 2             # the mask may start the sum over D channels
    return np.where(np.isneginf(s), 0.0, V)


def _normaliser(profile, s, m, p):
    """V_l of each row: the error of log sum exp.  It moves the whole row by one factor, so it is carried apart."""
    open_ = ~np.isneginf(s)
    n = s.shape[-1]
    lse = m + np.log(np.where(open_, np.exp(s - m), 0.0).sum(-1, keepdims=True))
    climb = np.cumsum(np.where(open_, p, 0.0), -1).sum(-1, keepdims=True)
    climb = np.maximum(climb, n - climb)                                            # summed forwards or backwards, errors leaning one way
    V = profile.U * (16 + np.maximum(n, climb ** 2 / 16))                           # exp, reciprocal or log; then the sum of the row
    V = V + 2 * profile.U * np.maximum(m * m, lse * lse)                            # log-sum-exp form: exp(s - lse) rounds lse itself
    return np.where(open_.any(-1, keepdims=True), V, 0.0)


def _exponents(profile, s, m, V):
    """V(s_j) as the exponential sees it: s - m is rounded, and rounded again where exp2 folds a constant in."""
    return np.where(np.isneginf(s), 0.0, V + 2 * profile.U * (s - m) ** 2)


def _unmasked(p, s, raw):
    """p, s and raw for sums over keys: masked entries count as 0, and so does a score that is not finite."""
    masked = np.isneginf(s)
    return np.where(masked, 0.0, p), np.where(masked, 0.0, s), np.where(masked | ~np.isfinite(raw), 0.0, raw)


def _off_mean(p, x):
    """x less its mean over keys: a weight sees how a score moves against the others."""
    return x - (p * x).sum(-1, keepdims=True)


def _common(profile, p, k, Vq, s, raw):
    """Errors common to all scores of a row, as each weight of one head sees them: p s raw (L, S') unmasked, k (S', D), Vq (L, D)."""
    k = np.where(np.isfinite(k), k, 0.0)
    V = np.zeros_like(p)
    for i in range(len(p)):
        V[i] = (k - p[i] @ k) ** 2 @ Vq[i] / k.shape[1]                             # q
    scale = np.maximum(_off_mean(p, s) ** 2, _off_mean(p, raw) ** 2)                # the scale: the mask is added before it or after it
    V = V + 2 * max(profile.U, profile.O) * scale
    return p * p * (V + _off_mean(p, _residue(profile, s)) ** 2)                    # equal scores are stored equally wrong


def _keys_alike(leader, s, Vs, p):
    """What V(p_j) of a row gains where equal keys have equally wrong scores."""
    sigma, open_ = p * np.sqrt(Vs), ~np.isneginf(s)
    if not _groups(leader):
        return np.zeros_like(p)
    total = np.bincount(leader, sigma, len(p))
    one = np.maximum(0.0, (1 - 2 * p) * Vs + (sigma * sigma).sum())
    alike = Vs - 2 * np.sqrt(Vs) * total[leader] + (total * total).sum()
    return np.where(open_, p * p * np.maximum(0.0, alike - one), 0.0)


def _softmax(profile, s, Vs, p, common):
    """V(p_j) without the normaliser's p_j^2 V_l.  A score moves its own weight by p_j (1 - p_j), the others by -p_j p_k."""
    shared = (p * p * Vs).sum(-1, keepdims=True)
    V = p * p * np.maximum(0.0, (1 - 2 * p) * Vs + shared) + common
    V = V + 16 * profile.U * p * p                                                  # exp of a few ulp, the division
    return np.where(np.isneginf(s), 0.0, V + _store(profile, p))


def _mix_row(profile, p, v, c, Vs, Vv, s, raw):
    """V(c_d) of one row of one head without its sum: p Vs s raw (S'), v Vv (S', D), c (D).

    Values enter as v - c wherever the weights move: a change of the weights that keeps their sum sees no offset.
    """
    away = v - c
    pc = p[:, None] * away
    V = (p * p * Vs) @ away ** 2                                                    # each score's own error
    V = V + (16 * profile.U + profile.T) * ((p * p) @ (v * v))                      # each weight's rounding; unnormalised weights too, so not centred
    V = V + (p * p) @ Vv                                                            # the values' errors
    scale = ((s - p @ s) @ pc) ** 2
    scale = np.maximum(scale, ((raw - p @ raw) @ pc) ** 2)                          # the mask is added before the scale or after it
    V = V + 2 * max(profile.U, profile.O) * scale                                   # an error of the scale is common to all scores
    if profile.s:                                                                   # equal values round equally: these add up
        V = V + (_residue(profile, p) @ away) ** 2
        V = V + (p @ _residue(profile, v)) ** 2
        V = V + (_residue(profile, s) @ pc) ** 2
    return V


def _mix_in_common(profile, p, v, c, Vs, Vv, s, alike, q, Vq, k):
    """What V(c) of one row gains by errors in common: of equal keys, weights and values, and of q.  alike: leaders of keys, of values; q Vq (D), k (S', D)."""
    V = _excess(alike[0], p * np.sqrt(Vs), v, c)
    V = V + (16 * profile.U + profile.T + profile.O) * _excess(_equal_scores(profile, s), p, v, c)
    V = V + _excess(alike[1], p, np.sqrt(Vv + profile.O * v * v))
    errors = _patterns(_equal_numbers(profile, q), _operand_sigma(profile, q, Vq)) @ k.T
    if profile.s:                                                                   # what storing q and k loses is known
        errors = np.vstack([errors, k @ _residue(profile, q), _residue(profile, k) @ q])
    moved = (errors * p / np.sqrt(len(q))) @ (v - c)
    return V + (moved ** 2).sum(0)


def _mix(profile, p, v, c, Vs, Vv, s, raw):
    """V(c) without V_l of one head: p Vs s raw (L, S') unmasked, v Vv (S', D), c (L, D)."""
    # What is not finite here is masked in every row whose result is finite, and must not meet a weight of 0 as NaN.
    Vv = np.where(np.isfinite(Vv), Vv, 0.0)
    V = np.zeros_like(c)
    for i in range(len(c)):
        V[i] = _mix_row(profile, p[i], v, c[i], Vs[i], Vv, s[i], raw[i])
    _, t2, adding = _summation(profile, p, v.T)
    V = V + 2 * profile.O * np.maximum(t2, c * c) + adding
    V = V + (_flushed(profile, p) @ np.abs(v)) ** 2                                 # flushed weights all lose towards 0
    return V + _store(profile, c)


def _alike(profile, p, x, w, b):
    """Value rows that are alike are projected with like errors, which add up where they are mixed.

    The error of projecting the mixture of the rows: p (L, S) unmasked, x (S, vdim), w (D, vdim), b (D).
    """
    mixture = p @ np.where(np.isfinite(x), x, 0.0)
    return _affine(profile, mixture, np.zeros_like(mixture), w, b)[1]


def _together(moved, v, c, w, leader):
    """A score's error moves all channels of its head at once: by how much this exceeds, behind out_proj, channels that move apart.

    moved is p^2 Vs (L, S') unmasked, v (S', D), c (L, D), w (E, D) the head's columns of out_proj; leader (S') of equal keys.
    """
    u, mean = v @ w.T, c @ w.T
    V = np.zeros_like(mean)
    for i in range(len(c)):
        apart = moved[i] @ (v - c[i]) ** 2 @ (w * w).T
        together = moved[i] @ (u - mean[i]) ** 2 + _excess(leader, np.sqrt(moved[i]), u, mean[i])
        V[i] = np.maximum(0.0, together - apart)
    return V


def _output(profile, c, V, Vl, moved, v, w, b, equal_keys):
    """out_proj of (N, H, L, D): what moves a head's c_d together has its share of the sum squared as a whole."""
    N, H, L, D = c.shape
    rows = c.transpose(0, 2, 1, 3).reshape(N * L, H * D)
    y, out = _affine(profile, rows, V.transpose(0, 2, 1, 3).reshape(N * L, H * D), w, b)
    out = out + (_residue(profile, rows) @ w.T) ** 2                                # equal channels are stored equally wrong
    out = (out + _store(profile, y)).reshape(N, L, H * D)
    for n in range(N):
        normal, moved_by = [], []
        for h in range(H):
            wh = w[:, h * D:(h + 1) * D]
            normal.append(np.sqrt(Vl[n, h]) * (c[n, h] @ wh.T))
            moved_by.append(_together(moved[n, h], v[n, h], c[n, h], wh, equal_keys[n, h]))
        normal, moved_by = np.array(normal), np.array(moved_by)
        out[n] += np.maximum((normal ** 2).sum(0), normal.sum(0) ** 2)              # normalisers may lean the same way
        equal = _nearly(profile, c[n], c[n, :1]).all((0, 2))[:, None]               # equal heads err alike
        out[n] += np.where(equal, np.sqrt(moved_by).sum(0) ** 2, moved_by.sum(0))
    channels = V.transpose(0, 2, 1, 3).reshape(N * L, H * D)
    excess = [_equal_channels(profile, rows[r], channels[r], w.T) for r in range(N * L)]
    return out + np.array(excess).reshape(out.shape)


def _equal_channels(profile, c, V, w):
    """Channels that are equal, up to sign, err alike: by how much they move an output further than independent errors.  c V (E), w (E, outputs)"""
    excess = np.zeros(w.shape[1])
    order = np.lexsort((np.arange(len(c)), np.abs(c)))
    sigma = np.where(c < 0, -1.0, 1.0) * np.sqrt(V)
    first = 0
    while first < len(c):
        last = first + 1
        while last < len(c) and _nearly(profile, abs(c[order[last]]), abs(c[order[first]])):
            last += 1
        k = order[first:last]
        if len(k) > 1:
            excess += np.maximum((sigma[k] @ w[k]) ** 2 - V[k] @ w[k] ** 2, 0.0)
        first = last
    return excess


def _mean(profile, p, V, Vl, s, mean):
    """The average over heads.  The normalisers of two heads may lean the same way: they are added before they are squared."""
    H = p.shape[1]
    masked = np.isneginf(s)
    p = np.where(masked, 0.0, p)
    out = np.sqrt(V).sum(1) ** 2 / H ** 2                                           # equal heads err alike
    out = out + (p * np.sqrt(Vl)).sum(1) ** 2 / H ** 2
    out = out + profile.U * mean ** 2 * (H + 1)                                     # the sum over heads and the division
    return out + np.where(masked.all(1), 0.0, _store(profile, mean))


def _arguments(inputs):
    """query key value as (N, length, features) in float64, whatever layout they came in."""
    arguments = []
    for name in ("query", "key", "value"):
        x = np.asarray(inputs[name], np.float64)
        if x.ndim == 2:
            x = x[None]
        elif not int(inputs.get("batch_first", 0)):
            x = x.transpose(1, 0, 2)
        arguments.append(x)
    return arguments


def _parameters(inputs, E):
    """[(weight, bias or None)] of q, k, v."""
    if inputs.get("in_proj_weight") is not None:
        weights = np.asarray(inputs["in_proj_weight"], np.float64).reshape(3, E, -1)
    else:
        weights = [np.asarray(inputs[n + "_proj_weight"], np.float64) for n in "qkv"]
    bias = inputs.get("in_proj_bias")
    biases = [None] * 3 if bias is None else np.asarray(bias, np.float64).reshape(3, E)
    return list(zip(weights, biases))


def _variances(stages, inputs, profile):
    q, k, v, s, p, c = (np.asarray(stages[n], np.float64) for n in
                        ("q_heads", "k_heads", "v_heads", "masked_scores", "attn_weights", "head_outputs"))
    raw = np.asarray(stages["scores"], np.float64)
    v = np.where(np.isfinite(v), v, 0.0)                                            # else masked, or the results are not finite either
    N, H, L, D = q.shape
    S, E = _arguments(inputs)[1].shape[1], H * D
    V = {}

    arguments, parameters = _arguments(inputs), _parameters(inputs, E)
    for name, x, (w, b) in zip("qkv", arguments, parameters):
        V[name + "_proj"] = _projection(profile, x, w, b)
        V[name + "_heads"] = _heads(V[name + "_proj"], H, stages[name + "_heads"].shape[2])

    Vq = V["q_heads"] + _store(profile, q) + _flushed(profile, q) ** 2  # kernels store the scaled q once more
    Vk = V["k_heads"] + _flushed(profile, np.where(np.isfinite(k), k, 0.0)) ** 2
    V["scores"] = np.zeros(s.shape)
    for n, h in np.ndindex(N, H):
        V["scores"][n, h] = _scores(profile, q[n, h], Vq[n, h], k[n, h], Vk[n, h], raw[n, h])
    V["mask"] = _mask(profile, inputs, s.shape, S)
    V["masked_scores"] = _masked_scores(profile, V["scores"], V["mask"], np.asarray(stages["mask"], np.float64), s, D)

    m = s.max(-1, keepdims=True, initial=-np.inf)
    Vl = _normaliser(profile, s, m, p)
    Vs = _exponents(profile, s, m, V["masked_scores"])
    Vs = np.where(~np.isneginf(s) & (_flushed(profile, p) > 0), Vs + 1.0, Vs)       # the whole weight may be lost
    p0, s0, raw0 = _unmasked(p, s, raw)
    common = np.zeros(s.shape)
    for n, h in np.ndindex(N, H):
        common[n, h] = _common(profile, p0[n, h], k[n, h], Vq[n, h], s0[n, h], raw0[n, h])
    Vp = _softmax(profile, s, Vs, p, common)
    k0 = np.where(np.isfinite(k), k, 0.0)
    equal_keys, equal_values = (np.zeros((N, H, k.shape[2]), int) for _ in range(2))
    for n, h in np.ndindex(N, H):
        equal_keys[n, h] = _equal_rows(k0[n, h], np.where(np.isfinite(V["k_heads"][n, h]), V["k_heads"][n, h], 0.0))
        equal_values[n, h] = _equal_rows(v[n, h], np.where(np.isfinite(V["v_heads"][n, h]), V["v_heads"][n, h], 0.0))
        for i in range(L):
            Vp[n, h, i] += _keys_alike(equal_keys[n, h], s[n, h, i], Vs[n, h, i], p0[n, h, i])
    V["attn_weights"] = Vp + np.where(np.isneginf(s), 0.0, p * p * Vl)

    value, (wv, bv) = arguments[2], parameters[2]
    Vc = np.zeros(c.shape)
    for n, h in np.ndindex(N, H):
        d = slice(h * D, (h + 1) * D)
        Vc[n, h] = _mix(profile, p0[n, h], v[n, h], c[n, h], Vs[n, h], V["v_heads"][n, h], s0[n, h], raw0[n, h])
        Vc[n, h] += _alike(profile, p0[n, h, :, :S], value[n], wv[d], None if bv is None else bv[d])
        Vv = np.where(np.isfinite(V["v_heads"][n, h]), V["v_heads"][n, h], 0.0)
        for i in range(L):
            Vc[n, h, i] += _mix_in_common(profile, p0[n, h, i], v[n, h], c[n, h, i], Vs[n, h, i], Vv, s[n, h, i],
                                          (equal_keys[n, h], equal_values[n, h]), q[n, h, i], Vq[n, h, i], k0[n, h])
    V["head_outputs"] = Vc + Vl * c * c
    V["merged"] = V["head_outputs"].transpose(0, 2, 1, 3).reshape(N, L, E)

    bias = inputs.get("out_proj.bias")
    V["output"] = _output(profile, c, Vc, Vl, p0 * p0 * Vs, v, np.asarray(inputs["out_proj.weight"], np.float64),
                          None if bias is None else np.asarray(bias, np.float64), equal_keys)
    if "attn_weights_mean" in stages:
        V["attn_weights_mean"] = _mean(profile, p, Vp, Vl, s, np.asarray(stages["attn_weights_mean"], np.float64))
    return V


def envelope(stages, inputs, profile):
    """{stage: sigma} for every stage given.  Stages that only rearrange exact numbers have sigma 0."""
    with np.errstate(all="ignore"):
        V = _variances(stages, inputs, profile)
        sigma = {}
        for name, value in stages.items():
            value = np.asarray(value, np.float64)
            root = np.sqrt(V[name]) if name in V else np.zeros(value.shape)
            sigma[name] = np.where(np.isfinite(value) & ~np.isnan(root), root, 0.0)
    return sigma


def applies(stages, sigma, profile):
    """None, or why this profile cannot judge these stages."""
    with np.errstate(all="ignore"):
        for name in ("q_proj", "k_proj", "v_proj", "scores", "masked_scores", "head_outputs", "output"):
            x = np.abs(np.asarray(stages[name], np.float64))
            top = np.where(np.isfinite(x), x, 0.0).max(initial=0.0)
            if top > min(profile.largest, 2.0 ** 250):                              # whose fourth power is a number too
                return "%s reaches %.3g, beyond the largest %s" % (name, top, profile.name)
        # Kernels that scale the product instead of q hold the scores times sqrt(D) for a moment (policy scores_overflow).
        root = np.sqrt(stages["q_heads"].shape[-1])
        size, off = np.abs(stages["scores"]) * root, 8 * np.asarray(sigma["scores"]) * root
        edge = np.isfinite(size) & (size + off > profile.largest) & (size - off < profile.largest * (1 + profile.u))
        if edge.any():
            return "a score before it is scaled, %.6g, is at the edge of the range of %s" % (size[edge].max(), profile.name)

        s = np.asarray(stages["masked_scores"], np.float64)
        if s.size == 0:
            return None
        J = s.argmax(-1)[..., None]
        m = np.take_along_axis(s, J, -1)
        if (np.isfinite(m) & (np.sqrt(2 / 3) * profile.u * np.abs(m) > 1 / 64)).any():
            return "the softmax is not determined: exp(s - lse) rounds scores of %.3g" % np.abs(m[np.isfinite(m)]).max()
        Vs = _exponents(profile, s, m, np.asarray(sigma["masked_scores"]) ** 2)
        tau = np.sqrt(Vs + np.take_along_axis(Vs, J, -1))
        rival = np.isfinite(s) & (np.arange(s.shape[-1]) != J)
        # Rounding may change which key leads, or by how much, by more than a first-order walk can tell.
        open_ = rival & (tau > 0.25) & ((m - s) - 8 * tau < -np.log(profile.floor))
        if open_.any():
            return "the softmax is not determined: rounding moves scores that compete by %.3g" % tau[open_].max()
    return None
