# SPDX-License-Identifier: MIT
"""Cases for what kernels do in tiles: sizes at the edges of tiles, tiles that are masked as a whole, rows that are
long, flat or far apart. Each says which mistake it shows; tests/kernels/planted has kernels that make it.

Letters: T a tile size. Files are brief, see Case.
"""
import numpy as np

from inputs import added, causal, drawn, lengths, padding_added, rows

TILES = (8, 16, 32, 64, 128)

# One tile and two, one less and one more, and three and a rest: what "size == T", "the second tile", "a tail of one",
# "a tail of T - 1" and "whatever is behind two tiles" need, for every T of TILES.
SIZES = sorted({T * k + d for T in TILES for k, d in ((1, 0), (1, 1), (2, -1), (2, 0))} | {257, 387})
ONE_HOT = {"one_hot": "the scores are hundreds apart"}


def add(case):
    _tiles(case)
    _decode(case)
    _deep_masks(case)
    _far(case)
    _flat(case)
    _sizes(case)
    _channels(case)
    _index(case)
    _next_item(case)


# ---- tiles: whole tiles that are masked ----

def _closed(T):
    """Padding: item 0 lacks the first tile, item 1 the second, item 2 all behind the second."""
    def make(c, _):
        j = np.arange(c.S) // T
        return np.stack([j == 0, j == 1, j > 1])
    return make


def _closed_rows(T, as_float):
    """attn_mask: query 0 does not see the first tile, 1 not the second, 2 nothing behind the first, 3 only the last tile and the rest."""
    def make(c, _):
        j = np.arange(c.S) // T
        masked = np.stack([j == 0, j == 1, j > 0, j < 2])
        return np.where(masked, -np.inf, 0.0) if as_float else masked
    return make


def _tiles(case):
    for T in TILES:
        case(f"tiles/padding_{T:03}",
             f"Padding closes a whole tile of {T} keys: the first, the second, all behind the second. A running maximum of -inf gives "
             "NaN; a loop that ends at the first closed tile, or begins behind it, loses keys.",
             "kpm_ignored kpm_batch_0", N=3, H=1, L=2, S=2 * T + 3, D=2, pad=_closed(T), brief=T > 16)
        case(f"tiles/rows_{T:03}",
             f"attn_mask closes whole tiles of {T} keys, others for each query of the same block: no query may decide for its neighbours.",
             "attn_ignored", N=2, H=1, L=4, S=2 * T + 5, D=2, attn=_closed_rows(T, T in (16, 64)), brief=T > 16)
    for T in (16, 32, 64):
        case(f"tiles/causal_{2 * T + 6:03}",
             f"Causal, {2 * T + 6} by {2 * T + 6}: the last row of a second tile of {T} and what follows it, each with its own key.",
             "causal_strict causal_plus_1", N=1, H=2 if T < 64 else 1, L=2 * T + 6, S=2 * T + 6, D=2, branch="self", attn=causal(), is_causal=True, brief=True)
    case("tiles/causal_offset", "Causal and padded on the left, 40 by 40: the first tile of 8, then of 16 keys is closed for the padded item.",
         "kpm_batch_0 causal_strict", N=2, H=1, L=40, S=40, D=2, branch="self", attn=causal(), is_causal=True, pad=_left(0, 19), brief=True)
    case("tiles/window",
         "A window of 20 keys around each of 70 queries: whole tiles are closed on both sides of it.", "attn_ignored causal_always",
         N=1, H=2, L=70, S=70, D=2, attn=lambda c, _: np.abs(np.arange(70)[:, None] - np.arange(70)) > 10, brief=True)
    case("mask/padding_shared_self", "Self-attention, and every item pads its last two keys: those columns can be cut off, the rows of their "
         "queries cannot.", "kpm_on_rows kpm_ignored", N=2, L=7, S=7, branch="self", pad=lengths(3, 5))
    case("mask/padding_shared_seq_first", "The same as (L,N,E), in float: -inf where it is padding.", "kpm_on_rows kpm_ignored",
         N=3, L=6, S=6, branch="self", layout="seq_first", pad=lambda c, _: np.where(lengths(4, 1, 3)(c, _), -np.inf, 0.0))


def _left(*count):
    return lambda c, _: np.arange(c.S)[None, :] < np.array(count)[:, None]


# ---- decode: one query ----

def _decode(case):
    for name, why, options in (
            ("padding_right", "bool padding on the right", dict(N=3, pad=lengths(5, 2, 7))),
            ("padding_left", "bool padding on the left, of more than a tile of 32", dict(N=2, S=67, D=3, pad=_left(3, 40))),
            ("padding_float", "float padding", dict(N=3, pad=padding_added())),
            ("both_masks", "a float attn_mask and bool padding", dict(N=3, S=17, attn=added(2), pad=lengths(11, 17, 4))),
            ("heads_mask", "a mask for each item and head", dict(N=2, H=3, S=9, D=3, attn=drawn(3))),
            ("bias_kv_padding", "both appended rows and padding", dict(N=2, bias_kv=True, zero_attn=True, pad=lengths(4, 6))),
            ("one_head", "one item, one head, 129 keys of which 30 are closed", dict(N=1, H=1, S=129, D=4, pad=_left(30), brief=True))):
        case(f"decode/{name}", f"L = 1, the step of a decoder, with {why}.", "", **{**dict(L=1), **options})


# ---- deep masks: float masks far below what is usual, and not -inf ----

def _deep_masks(case):
    def with_rows(**deep):
        """Row i of an added mask replaced by numbers."""
        def make(c, pad):
            x = added(2)(c, pad)
            for i, row in deep.items():
                x[int(i[1:])] = row(c, x[int(i[1:])])
            return x
        return make

    for name, value in (("100", -100.0), ("1e4", -10000.0)):
        case(f"deep_masks/row_minus_{name}",
             f"All keys of the second query get {value:g}: the softmax is that of the scores; whoever takes it for -inf returns NaN.",
             "attn_float_as_bool", N=1, attn=with_rows(r1=lambda c, x, value=value: value))
    case("deep_masks/row_minus_1000", "All keys of a query get about -1000, others in each column: clamped at -100 or -1000 they would be equal.",
         "attn_float_as_bool", N=1, attn=with_rows(r1=lambda c, x: -1000 + x, r3=lambda c, x: -200 + x))
    case("deep_masks/padding_minus_1e4", "Padding in float: all keys of an item get -10000, and of another -100 or 0.", "kpm_float_as_bool",
         N=3, pad=lambda c, _: np.stack([np.full(c.S, -1e4), np.where(np.arange(c.S) % 3 == 1, -100.0, 0.0), padding_added()(c, _)[2]]))
    case("deep_masks/heads_minus_1e4", "A mask for each head: all of one head -10000, all of another -30, one key each 0.", "mask3d_first",
         N=1, H=3, D=3, attn=lambda c, pad: added(3)(c, pad) * 0 + _heads(c, (-1e4, -30.0, -2.0)))
    case("deep_masks/alibi", "Slopes of 1/4 and 1/16 for each key further away, causal: down to -24.", "mask3d_first attn_float_as_bool",
         N=1, H=2, L=96, S=96, D=2, attn=lambda c, _: _alibi(c, (0.25, 0.0625)), brief=True)
    case("deep_masks/alibi_steep", "Slopes of 8 and 32 for each key further away: below -1000, where masks are taken for -inf.",
         "attn_float_as_bool", N=1, H=2, L=5, S=48, D=3, attn=lambda c, _: np.stack(
             [-slope * np.abs(9.0 * np.arange(c.L)[:, None] - np.arange(c.S) % 45) for slope in (8, 32)]),
         because={"one_hot": "the nearest key wins"}, brief=True)
    case("deep_masks/row_minus_2e9", "All keys of a query get -2e9, which float64 can still tell apart: no maximum may start at -1e9.",
         "", N=1, attn=with_rows(r1=lambda c, x: -2e9 + 0 * x),
         kills_nothing="mistakes are tried in float32, float16 and bfloat16, and this one is for float64",
         because={"not_applicable": "float32 has no scores left at -2e9; the vector is for float64"})


def _heads(c, values):
    x = np.repeat(np.array(values)[:, None, None], c.L, 1).repeat(c.S, 2)
    for h in range(c.H):
        for i in range(c.L):
            x[h, i, (2 * h + 3 * i) % c.S] += 1.5
    return x


def _alibi(c, slopes):
    i, j = np.arange(c.L)[:, None], np.arange(c.S)
    return np.stack([np.where(j > i, -np.inf, -slope * (i - j)) for slope in slopes])


# ---- far: scores hundreds apart in rows longer than a vector of lanes ----

def _winners(t, c, at, size=30):
    """Query i wins with key at[i] at about size^2 / sqrt(D); the other scores are up to size * 8 / sqrt(D) either way."""
    t["in_proj_weight"][:2 * c.E] = np.tile(np.eye(c.E), (2, 1))
    t["query"], t["key"] = t["query"] / 64, 8 * np.clip(t["key"], -2, 2)
    for h in range(c.H):
        for i, j in enumerate(at):
            t["query"][:, i, h * c.D + i] += size
            t["key"][:, j, h * c.D + i] = size * 2


def _far(case):
    for S, at in ((16, (0, 7, 8, 15)), (17, (3, 16, 9, 1)), (40, (39, 12, 31, 32)), (140, (139, 64, 15, 127))):
        case(f"far/s{S:03}",
             f"{S} keys, scores hundreds apart, the winners at {', '.join(map(str, at))}: a maximum that misses a lane or a tile overflows.",
             "softmax_no_max", N=1, H=1, L=4, S=S, D=5, edit=lambda t, c, at=at: _winners(t, c, at), because=ONE_HOT, brief=S > 40)
    case("far/rising_s140", "Two rows of 140 keys whose scores rise or fall by about 5 a key: every tile has another maximum.",
         "softmax_online_no_rescale", N=1, H=1, L=2, S=140, D=2, edit=lambda t, c: _steps(t), because=ONE_HOT, brief=True)


def _steps(t):
    t["in_proj_weight"][:4] = np.tile(np.eye(2), (2, 1))
    t["query"] = np.array([[[14.0, 0.0], [-14.0, 1.0]]])
    t["key"][0, :, 0] = np.arange(140) / 2 - 32


# ---- flat: sums that grow long and lean one way ----

FLAT = {"flat": "all weights are nearly equal, so that sums grow as long as they can"}


def _flat(case):
    for S in (300, 1025):
        case(f"flat/one_sign_s{S}",
             f"{S} nearly equal weights and values of one sign: a sum of weights, or of weights times values, that is kept in 16 bits stands still.",
             "keys_first_64 softmax_by_count" if S == 300 else "keys_first_256", N=1, H=1, L=2, S=S, D=3, gain=(0.04, 0.04, 1),
             edit=lambda t, c: _one_sign(t), because=FLAT, brief=True)
    case("flat/one_sign_d128",
         "Heads of 128 channels, products of one sign: a sum over channels that is kept in 16 bits stands still, in the projections and the scores.",
         "scale_8 scale_none", N=1, H=1, L=2, S=5, D=128, kdim=2, vdim=2, edit=lambda t, c: _one_sign_channels(t), brief=True)


def _one_sign(t):
    t["value"] = np.abs(t["value"]) + 1
    t["in_proj_weight"][6:] = np.abs(t["in_proj_weight"][6:])
    t["in_proj_bias"][6:] = np.abs(t["in_proj_bias"][6:])


def _one_sign_channels(t):
    t["query"] = np.abs(t["query"]) + 0.5
    t["q_proj_weight"] = np.where(t["q_proj_weight"] > 0, 2.0 ** -6, 2.0 ** -7)
    t["k_proj_weight"] = np.abs(t["k_proj_weight"]) / 4
    t["v_proj_weight"] = np.abs(t["v_proj_weight"])
    t["key"] = np.abs(t["key"]) * np.linspace(0.25, 1, 5)[None, :, None]
    t["value"] = np.abs(t["value"])
    t["out_proj.weight"] = np.where(t["out_proj.weight"] > 0, 2.0 ** -6, 2.0 ** -7)
    for name in ("in_proj_bias", "out_proj.bias"):
        t[name] = np.abs(t[name])


# ---- sizes: at the edges of tiles ----

def _sizes(case):
    """Queries rise while keys fall, so that no file is large. Items repeat after the eleventh."""
    few = [size for size in SIZES if size != 257]
    for L, S in zip(SIZES, reversed(SIZES)):
        case(f"sizes/l{L:03}_s{S:03}", f"{L} queries and {S} keys: at the edges of tiles of 8 to 128 rows and keys.", "rows_tail_4" if L % 4 else "",
             N=2 if L * S < 3000 else 1, H=1, L=L, S=S, D=2, brief=True)
    for N in few:
        case(f"sizes/n{N:03}", f"{N} items: at the edges of tiles of 8 to 128 items.", "kpm_batch_0", N=N, H=1, L=1, S=5, D=2, items=11, numbers="sizes/n008",
             pad=lambda c, _: np.arange(5) == (np.arange(c.N) % 11 % 5)[:, None], brief=True, because={"equal_masks": "items repeat"})
    for D in few:
        case(f"sizes/d{D:03}", f"A head of {D} channels: at the edges of tiles of 8 to 128 channels.", "scale_none", N=1, H=1, L=2, S=4, D=D,
             kdim=3, vdim=2, sparse=3, brief=True)
    for H in few:
        narrow = {"kdim": 2, "vdim": 2} if H > 64 else {}
        case(f"sizes/h{H:03}", f"{H} heads of one channel: at the edges of tiles of 8 to 128 heads.", "all_heads_head0", N=1, H=H, L=2, S=3,
             D=1, sparse=3, gain=(1.3, 1.3, 1), brief=True, **narrow)
    for rest in range(10, 15):
        case(f"sizes/rest_{rest}", f"{rest} keys, {rest + 11} queries, kdim {rest + 1}, vdim {rest + 8}, four heads: rests of 2 to 6 behind whole "
             "vectors of eight lanes.", "keys_tail_4" if rest % 4 else "scale_none", N=2, H=4, L=rest + 11, S=rest, D=3, kdim=rest + 1,
             vdim=rest + 8, brief=True)
    case("sizes/l064_s064", "Self-attention of 64, whole tiles and nothing else.", "softmax_q", N=1, H=2, L=64, S=64, D=2, branch="self", brief=True)


# ---- channels: the usual sizes of heads, with masks ----

def _channels(case):
    for D, options in ((64, dict(attn=drawn(2))), (80, dict(pad=lengths(4, 6))), (96, dict(attn=causal(), is_causal=True, L=6)),
                       (128, dict(attn=added(2))), (192, dict(attn=drawn(2), pad=lengths(5, 3))), (256, dict(pad=padding_added()))):
        case(f"channels/d{D:03}_masked", f"Heads of {D} channels with a mask.", "scale_none", **{**dict(
            N=2, H=1, L=3, S=6, D=D, kdim=3, vdim=2, sparse=3, brief=True), **options})
    case("channels/d080", "Heads of 80 channels, no power of two, packed weights.", "scale_none scale_8", N=1, H=1, L=2, S=5, D=80, sparse=3, brief=True)
    case("channels/d064_h3", "Three heads of 64 channels, five items.", "scale_none merge_interleaved", N=5, H=3, L=1, S=3, D=64, kdim=2, vdim=3,
         sparse=3, items=3, brief=True)
    case("channels/d004_h16", "Sixteen heads of 4 channels, nine items.", "scale_none merge_interleaved", N=9, H=16, L=2, S=3, D=4, sparse=3, brief=True)


# ---- index: offsets that no 16-bit integer holds ----

def _index(case):
    case("index/scores", "N H L S' is 68120: an offset into the scores beyond 2^15 and 2^16, and more than 128 queries and keys at once.",
         "", N=2, H=2, L=130, S=131, D=1, brief=True)
    case("index/queries", "N L E is 67584: an offset into the queries beyond 2^15 and 2^16. Rows repeat.", "", N=2, H=1, L=2112, S=2, D=16, rows=13,
         sparse=4, brief=True)
    case("index/keys", "N S E is 67584: an offset into the keys and values beyond 2^15 and 2^16. Rows repeat.", "", N=2, H=1, L=1, S=2112, D=16,
         rows=13, sparse=4, brief=True)


# ---- the next item: a key too far has a weight of 0, and 0 times NaN is NaN ----

def _next_item(case):
    for S in (7, 8, 17):
        case(f"nan/next_item_s{S:02}",
             f"NaN in the first key and value of the second item: the first item, of {S} keys, has no part in it. A key too far does, whatever its weight.",
             "", N=2, L=4, S=S, D=3, edit=lambda t, c: _first_of_next(t, np.nan))
    case("nan/next_item_inf", "Infinity there.", "", N=2, L=4, S=9, D=3, edit=lambda t, c: _first_of_next(t, np.inf))
    case("nan/next_item_masked", "NaN there, and it is padding: the second item may ignore it, the first has no part in it.", "",
         N=2, S=9, D=3, pad=rows(".......xx", "xx......."), edit=lambda t, c: _first_of_next(t, np.nan))
    case("nan/last_key_before", "NaN in the last key of the first item: nothing of it may stay in a running maximum or sum when the second begins.",
         "", N=2, L=4, S=7, D=3, edit=lambda t, c: t["key"].__setitem__((0, 6, 1), np.nan), brief=True)
    case("nan/next_query", "NaN in the first query of the second item, and a tail of queries in the first.", "nan_swallowed", N=2, L=5, S=6, D=3,
         edit=lambda t, c: t["query"].__setitem__((1, 0, 1), np.nan))


def _first_of_next(t, what):
    for name in ("key", "value"):
        t[name][1, 0, 1] = what
