# SPDX-License-Identifier: MIT
"""THE list: one entry, one vector. To add a vector, add an entry and run gen/generate.py: it becomes part of
CORPUS_VERSION, which is not published yet. To alter or remove one is impossible once it is published (gen/index.py).

The base shape N=3 H=2 L=4 S=7 D=5 (Case's defaults) has no two sizes equal and none a multiple of 4, so that nothing
hides behind a coincidence. catches names mistakes, most telling first.
"""
import numpy as np

import edges
import hashed
import pairs
from inputs import Case, added, causal, drawn, lengths, padding_added, rows

CORPUS_VERSION = "1.1.0"      # the next one, or the newest if vectors/corpus-1.1.0.sha256 exists
CASES = []


def case(name, why, catches="", **options):
    CASES.append(Case(name, why, catches, **options))


# ---- core: the recipe itself ----

def _embedding(t, c):
    table = hashed.grid(hashed.normal(c.source, "embedding.weight", (16, c.E)), 1.0)
    t["query"] = t["key"] = t["value"] = table[np.arange(8).reshape(2, 4)]


def _integers(t, c, low=-2, high=2, thin=1):
    for name in t:
        draw = hashed.integers(c.source, name + ".whole", t[name].shape, low, high)
        keep = hashed.integers(c.source, name + ".keep", t[name].shape, 1, thin) == 1
        t[name] = draw * keep


def _printable(t, c):
    t["in_proj_weight"] = np.array([[1, 0, 1, 0], [0, 1, 0, -1], [1, 1, 0, 0], [0, 0, 1, 1],        # q
                                    [0, 1, 0, 1], [1, 0, -1, 0], [0, 0, 1, 0], [1, 0, 0, 1],        # k
                                    [2, 0, 0, 1], [0, 1, 1, 0], [0, -1, 2, 0], [1, 0, 0, -1.0]])    # v
    t["in_proj_bias"] = np.array([1, 0, -1, 1, 0, 1, 1, -1, 1, 2, -1, 0.0])
    t["out_proj.weight"] = np.array([[1, 0, 2, 0], [0, 1, 0, -1], [1, 1, 0, 0], [0, 0, 1, 1.0]])
    t["out_proj.bias"] = np.array([1, -1, 2, 0.0])
    t["query"] = np.array([[[1, 0, -1, 1], [0, 1, 1, -1.0]]])
    t["key"] = np.array([[[1, 0, 1, 0], [0, 1, 0, 1], [-1, 1, 1, 0.0]]])
    t["value"] = np.array([[[1, 2, 0, -1], [0, 1, -2, 1], [2, -1, 1, 0.0]]])


def _exact(t, c):
    _integers(t, c, -1, 1, thin=2)
    t["in_proj_bias"] = hashed.integers(c.source, "bias.whole", t["in_proj_bias"].shape, 1, 3) / 4.0
    t["out_proj.bias"] = hashed.integers(c.source, "out bias", (c.E,), 1, 8) / 4.0
    order = np.argsort(hashed.words(c.source, "order", c.E))
    signs = 1.0 - 2 * hashed.integers(c.source, "signs", (c.E,), 0, 1)
    t["out_proj.weight"] = np.eye(c.E)[order] * signs[:, None]


BLOCKS = "order_kqv order_qvk order_vkq order_kvq w_untransposed w_interleave_head"
HEADS = "split_no_transpose split_interleaved merge_no_transpose merge_interleaved merge_head_rev all_heads_head0 k_head0"
SCALES = "scale_none scale_mul scale_d scale_by_embed_dim scale_by_heads scale_half scale_8 scale_padded4 scale_after_softmax"

case("core/answer",
     "The shapes of the well-known answer: token ids 0..7 through an Embedding(16, 24), three heads of 8, batch 2, length 4, query is key "
     "is value, weights per head; but with biases, which a fresh module has not.",
     "order_kqv order_qvk w_untransposed b_ignored split_no_transpose merge_no_transpose out_untransposed scale_by_embed_dim softmax_q",
     N=2, H=3, L=4, S=4, D=8, branch="self", edit=_embedding)
case("core/cross", "Query, key and value all different and of the base shape: most mistakes that need no mask show here.",
     f"{BLOCKS} {HEADS} {SCALES} v_from_key k_from_value no_in_proj pv_transposed mean_is_sum mean_is_max")
case("core/self", "Query is key is value: one product with the whole of in_proj_weight.",
     "order_kqv b_interleave_head softmax_q causal_always",
     L=4, S=4, branch="self", N=2)
case("core/encdec", "Key is value and query is another, as between decoder and encoder: two products.", "order_qvk",
     branch="encdec", N=2)
case("core/per_head", "Weights per head: the order of heads and batch items, and rows that add up to 1.",
     "weights_heads_first weights_transposed weights_scores mean_is_head_0 softmax_heads softmax_joint softmax_unnormalised", H=5, D=3, L=3, S=4)
case("core/no_bias", "bias=False: neither in_proj_bias nor out_proj.bias exists.", "scale_none", bias=False, N=2)
case("core/printable", "Small whole numbers, to be followed on paper.", "w_untransposed split_no_transpose scale_none",
     N=1, H=2, L=2, S=3, D=2, edit=_printable)
case("core/exact", "Quarters, D=16 hence a scale of 1/4, and a signed permutation as out_proj: every stage up to the scores is exact "
     "in any order of summation.", "out_untransposed merge_interleaved scale_half", N=2, H=2, L=3, S=5, D=16, edit=_exact)

# ---- projection: widths, and parameters that come apart ----

case("projection/kdim_vdim", "Keys of 6 and values of 9 channels beside E = 10: three separate weights, one packed bias.",
     "kdim_stride vdim_stride order_kqv w_untransposed", kdim=6, vdim=9, N=2)
case("projection/kdim", "Only kdim differs: the value weight is separate too.", "kdim_stride w_untransposed", kdim=13, N=2)
case("projection/vdim", "Only vdim differs: the key weight is separate too.", "vdim_stride w_untransposed", vdim=13, N=2)
case("projection/kdim_is_vdim", "Key is value, of 7 channels: separate weights in the encoder-decoder case.",
     "kdim_stride separate_kv_swapped order_kvq",
     kdim=7, vdim=7, branch="encdec", N=2)
case("projection/separate_no_bias", "Separate weights and no bias at all.", "kdim_stride", kdim=6, vdim=9, bias=False, N=2)
case("projection/separate_extra_rows", "Separate weights with both kinds of appended rows, which are not projected and have E channels.",
     "kdim_stride zero_before_bias_kv bias_kv_swapped", kdim=13, vdim=6, bias_kv=True, zero_attn=True, layout="seq_first", N=2)
case("projection/out_bias_only", "in_proj_bias is zero, out_proj.bias is not: as in a module whose output layer alone was trained.",
     "out_bias_ignored b_as_out_b",
     edit=lambda t, c: t["in_proj_bias"].__imul__(0), because={"zero_bias": "tells a lost output bias from a lost input bias"}, N=2)

# ---- bias_kv, zero_attn: rows appended to the keys ----

EXTRA = "bias_kv_added bias_kv_ignored bias_kv_swapped bias_kv_projected bias_kv_prepended"
PADDED = "bias_kv_prepended_masks_not extra_rows_masked"
case("bias_kv/bias", "add_bias_kv: one more key and value after the real ones; dropping the key bias now shows.", f"{EXTRA} b_k_ignored",
     bias_kv=True, N=2)
case("bias_kv/zero", "add_zero_attn: a last key and value of zeros, which takes its share of the softmax.",
     "zero_attn_ignored extra_rows_prepended b_k_ignored softmax_plus_1",
     zero_attn=True, N=2)
case("bias_kv/both", "Both: the bias row comes first, the zero row last.", f"zero_before_bias_kv zero_attn_ignored {EXTRA}", bias_kv=True,
     zero_attn=True, N=2)
case("bias_kv/both_masks", "Both rows and both masks: masks are padded with zeros on the right, twice.",
     f"{PADDED} zero_before_bias_kv zero_attn_masked_by_padding",
     bias_kv=True, zero_attn=True, attn=drawn(2), pad=lengths(6, 4, 2))
case("bias_kv/both_float_masks", "Both rows and two float masks: the columns of the appended rows get 0, not the last value.",
     f"{PADDED} extra_rows_last_mask attn_float_sign",
     bias_kv=True, zero_attn=True, attn=added(3), pad=padding_added(),
     version="PyTorch 1.13 drops a float key_padding_mask beside a float attn_mask.")
case("bias_kv/both_3d_mask", "Both rows and a mask per item and head: the mask's rows are S apart, the scores' S + 2.",
     f"{PADDED} mask3d_head_major mask_row_stride",
     bias_kv=True, zero_attn=True, attn=drawn(3))
case("bias_kv/all_masked",
     "Every real key of one query and of one item is masked: the appended rows keep the softmax alive, nothing is NaN.",
     "extra_rows_masked zero_attn_masked_by_padding", bias_kv=True, zero_attn=True, attn=rows(".x..x..", "xxxxxxx", "..xx...", "x.....x"),
     pad=lengths(5, 0, 7))
case("bias_kv/causal", "A causal mask with appended rows: they lie to the right of the diagonal and are open all the same.",
     "extra_rows_masked",
     bias_kv=True, zero_attn=True, L=5, S=5, attn=causal(), is_causal=True, N=2)
case("bias_kv/large_bias_row", "The bias row wins most of the softmax.", EXTRA, bias_kv=True,
     edit=lambda t, c: t["bias_k"].__imul__(6), N=1)

# ---- mask: one alone, then every pair ----

POLARITY = "attn_bool_inverted attn_bool_added_1 bool_masks_added_minus_1 attn_ignored mask_zero_score mask_after_softmax"
FLOATS = "attn_float_as_bool attn_float_sign attn_float_multiplied scale_over_mask attn_ignored"
THREE = "mask3d_head_major mask3d_batch_only mask3d_first"
PADDING = "kpm_bool_inverted kpm_ignored kpm_batch_0 kpm_on_rows kpm_bool_added_1"
MERGE = "attn_ignored kpm_ignored attn_overrides_kpm kpm_overrides_attn"
case("mask/attn_2d_bool", "attn_mask (L,S), bool: true means masked, the opposite of scaled_dot_product_attention.",
     f"{POLARITY} attn_transposed",
     attn=drawn(2), N=2)
case("mask/attn_2d_float", "attn_mask (L,S), float, of both signs: added to the scaled scores, not scaled itself.", FLOATS, N=2,
     attn=added(2))
case("mask/attn_2d_minus_1e9", "A float attn_mask of 0 and about -1e9, which many write for -inf.", "attn_float_sign attn_float_multiplied",
     attn=rows(".x.x..x", "x...xx.", "..xx.x.", ".x..x.x", value=-1e9), N=2)
case("mask/attn_2d_minus_10", "A float attn_mask of 0 and -10: unlikely is not masked.",
     "attn_float_as_bool scale_over_mask float_masks_only_inf",
     attn=rows("..x.x.x", "xxx.xxx", ".x.x.x.", "xxxx.xx", value=-10.0), N=2)
case("mask/attn_3d_bool", "attn_mask (N*H,L,S), bool, six different ones: item n and head h take n*H+h.", f"{THREE} {POLARITY}",
     attn=drawn(3))
case("mask/attn_3d_float", "attn_mask (N*H,L,S), float.", f"{THREE} {FLOATS}", attn=added(3))
case("mask/attn_self", "A mask that is square but not symmetric, in self-attention.", f"attn_transposed {POLARITY}", L=5, S=5,
     branch="self", attn=drawn(2), N=2)
case("mask/self_3d_bool", "attn_mask (N*H,L,S) in self-attention: item n and head h take n*H+h.", f"{THREE} {POLARITY} attn_transposed", L=5, S=5,
     branch="self", attn=drawn(3))
case("mask/self_2d_bool_padding_bool", "Self-attention with both masks bool, attn_mask 2-D, and holes in the padding.", f"{MERGE} {PADDING}",
     L=5, S=5, branch="self", attn=drawn(2, 25), pad=rows("..x..", "x...x", ".xx.."))
case("mask/padding_right", "key_padding_mask, bool, lengths 5, 2 and 7.", PADDING, pad=lengths(5, 2, 7))
case("mask/padding_anywhere", "key_padding_mask with holes: left, in the middle, everywhere but one.", f"{PADDING} kpm_as_length",
     pad=rows("xx.....", "..xx.x.", "xxxxx.x"))
case("mask/padding_float", "key_padding_mask, float: added to the scores of its key, whatever the documentation says of values.",
     "kpm_float_as_bool kpm_float_sign scale_over_mask kpm_batch_0", pad=padding_added(), layout="seq_first")
case("mask/padding_self", "Padding in self-attention, where queries are padded too but attend as ever.", "kpm_on_rows kpm_bool_inverted",
     L=5, S=5, branch="self", pad=lengths(3, 5, 2), layout="seq_first")
case("mask/padding_square_batch", "N = S: padding read as (S,N) stays inside.", "kpm_transposed kpm_batch_0", N=4, S=4, L=2,
     pad=rows(".x.x", "..x.", "x.x.", "..xx"))
for _ndim in (2, 3):
    _three = THREE if _ndim == 3 else ""
    _shape = dict(N=2, H=3, D=3)
    case(f"mask/{_ndim}d_bool_padding_bool", f"Both masks bool, attn_mask {_ndim}-D: a key needs both to be open.",
         f"{MERGE} {PADDING} {_three}",
         attn=drawn(_ndim), pad=lengths(5, 3), **_shape)
    case(f"mask/{_ndim}d_float_padding_bool", f"A float attn_mask ({_ndim}-D) beside bool padding.", f"{MERGE} attn_float_as_bool {_three}",
         attn=added(_ndim), pad=rows("..x..xx", "x....x."), layout="seq_first", **_shape)
    case(f"mask/{_ndim}d_bool_padding_float", f"A bool attn_mask ({_ndim}-D) beside float padding.", f"{MERGE} kpm_float_as_bool {_three}",
         attn=drawn(_ndim), pad=padding_added(), **_shape,
         version="PyTorch 1.13 takes every number but 0 in the padding for masked.")
    case(f"mask/{_ndim}d_float_padding_float", f"Both masks float, attn_mask {_ndim}-D: their sum is added, the padding counts once.",
         f"{MERGE} kpm_float_as_bool kpm_added_twice {_three}", attn=added(_ndim, percent=15), pad=padding_added(percent=20), **_shape,
         version="PyTorch 1.13 ignores the padding here.")

# ---- causal ----

CAUSAL = "causal_strict causal_plus_1 causal_reversed attn_ignored attn_transposed"
case("causal/square", "Query i sees keys 0 to i; seven of them, so that the last ones fall out of a group of four.", CAUSAL, L=7, S=7,
     attn=causal(), is_causal=True, N=2)
case("causal/self", "The decoder's own case: self-attention under a causal mask.", f"{CAUSAL} softmax_q", L=5, S=5, branch="self",
     attn=causal(), is_causal=True, N=2)
case("causal/float", "The same as a float mask of 0 and -inf, as generate_square_subsequent_mask makes it.", CAUSAL, L=6, S=6,
     attn=causal(True), is_causal=True,
     layout="seq_first", N=2)
case("causal/more_keys", "L < S: the diagonal starts in the top left corner, so the last keys are seen by nobody.", f"causal_bottom_right {CAUSAL}",
     attn=causal(), is_causal=True, N=2)
case("causal/more_queries", "L > S: the last queries see everything, and none is without a key.", f"causal_bottom_right {CAUSAL}", L=7, S=3,
     attn=causal(), is_causal=True, N=2)
case("causal/one_query", "L = 1, as while decoding: the top left corner is one key.", "causal_bottom_right causal_strict", L=1, attn=causal(),
     is_causal=True,
     because={"one_key": "a lone query may see the first key only, that is what the vector says"})
case("causal/padding", "Causal and padded on the right.", f"{MERGE} {CAUSAL} kpm_batch_0", L=5, S=5, attn=causal(), is_causal=True,
     pad=lengths(5, 2, 4))
case("causal/not_quite", "One key short of causal: whoever guesses 'causal' from the upper corner is wrong.", "causal_guessed attn_ignored",
     L=5, S=5, attn=rows(".xxxx", "..xxx", "x..xx", "....x", "....."), N=2)

# ---- fully masked: NaN with need_weights=True, 0 before out_proj without ----

CLOSED = "softmax_uniform mask_fill_minus_1e9 mask_add_minus_1e9 mask_fill_minus_1e4"
case("fully_masked/first_row", "The first query may attend to nothing.", CLOSED, attn=rows("xxxxxxx", ".x.x..x", "x...xx.", "..x.x.."), N=2)
case("fully_masked/middle_row", "A query in the middle may attend to nothing; its neighbours may.", CLOSED,
     attn=rows("..x.x.x", "x..x...", "xxxxxxx", ".x...x."), N=2)
case("fully_masked/last_row", "The last query may attend to nothing.", CLOSED, attn=rows("x....x.", "..xx..x", ".x..x..", "xxxxxxx"),
     layout="seq_first", N=2)
case("fully_masked/float_row", "The same by a float mask.", "mask_fill_minus_1e9 mask_fill_minus_1e4 softmax_uniform",
     attn=lambda c, pad: np.where(rows("..x.x.x", "xxxxxxx", "x..x...", ".x...x.")(c, pad), -np.inf, added(2)(c, pad)), N=2)
case("fully_masked/item", "All keys of one batch item are padding.", f"{CLOSED} kpm_batch_0", pad=lengths(4, 0, 6))
case("fully_masked/union", "Neither mask closes a row, both together do.", f"{CLOSED} attn_overrides_kpm kpm_overrides_attn",
     attn=rows("..xxxxx", ".x..x..", "xxx....", "x...x.x"), N=2, pad=rows(".....xx", "xx....x"))
case("fully_masked/one_head", "One head of one item has a closed row: its other head has not, so only its half of the merged row is NaN.",
     f"{CLOSED} {THREE}",
     attn=lambda c, pad: _close(drawn(3)(c, pad), (3, 1)))
case("fully_masked/first_causal", "A strict causal mask, which leaves the first query nothing.", CLOSED, L=5, S=5,
     attn=lambda c, pad: np.triu(np.ones((5, 5), bool), 0), N=2)
case("fully_masked/everything", "All is masked: nothing is left but the policy.", CLOSED.replace("softmax_uniform ", ""),
     attn=lambda c, pad: np.ones((c.L, c.S), bool),
     because={"constant_mask": "that is what the vector is about", "one_key": "no query has a key"}, N=2)
# nn.MultiheadAttention's inference path: self-attention, batch_first, an even number of heads, a bias, bool masks
case("fully_masked/self_row", "Self-attention where one query may attend to nothing.", CLOSED, L=5, S=5, branch="self", N=2,
     attn=rows("..x.x", "xxxxx", ".x..x", "x..x.", "...xx"))
case("fully_masked/self_item", "Self-attention where all of one item is padding.", f"{CLOSED} kpm_batch_0", L=5, S=5, branch="self",
     pad=lengths(3, 0, 5))
case("fully_masked/self_one_head", "Self-attention where one head of one item has a closed row.", f"{CLOSED} {THREE}", L=5, S=5, branch="self",
     attn=lambda c, pad: _close(drawn(3)(c, pad), (2, 3)))
case("fully_masked/self_causal", "Self-attention under a causal mask with padding on the left: the first queries may attend to nothing.",
     f"{CLOSED} attn_overrides_kpm kpm_overrides_attn", L=5, S=5, branch="self", attn=causal(), is_causal=True,
     pad=rows("xx...", ".....", "x...."))


def _close(mask, *where):
    for at in where:
        mask[at] = True
    return mask


# ---- nan: NaN and infinity in arguments ----

def _put(name, at, value):
    def edit(t, c):
        t[name] = t[name].copy()
        t[name][at] = value
        if c.branch == "self":
            t["query"] = t["key"] = t["value"] = t[name]
    return edit


case("nan/masked_value", "NaN in a value that is padding: 0 times NaN is NaN, and the whole item is lost; many kernels never read it.",
     "",
     N=2, pad=lengths(5, 7), edit=_put("value", (0, 6, 2), np.nan))
case("nan/masked_key", "NaN in a key that is padding: the score is NaN whatever is added.", "", N=2, pad=lengths(7, 4),
     edit=_put("key", (1, 5, 0), np.nan))
case("nan/masked_key_inf", "Infinity in a key that is masked for every query by attn_mask.", "",
     attn=rows("..x.x..", "x.x..x.", "..x...x", ".xx...."),
     N=2, edit=_put("key", (1, 2, 1), -np.inf))
case("nan/one_query", "NaN in one query: its row is lost, no other.", "nan_swallowed", N=2,
     edit=_put("query", (1, 2, 3), np.nan))
case("nan/open_key", "NaN in a key that everybody sees: its item is lost, no other.", "nan_swallowed", N=2,
     edit=_put("key", (1, 3, 4), np.nan))
case("nan/plus_inf_mask", "+inf in a float mask: infinity minus infinity is NaN, so the row is lost.", "mask_inf_clamped attn_float_as_bool",
     attn=lambda c, pad: _plus_inf(added(2)(c, pad)), N=1)


def _plus_inf(mask):
    mask[2, 4] = np.inf
    return mask


# ---- softmax: extremes ----

case("softmax/positive", "Scores between about 300 and 400, close together: without subtracting the maximum every exponential overflows.",
     "softmax_no_max", gain=(0.2, 0.22, 1), shift=(12, 12, 0), N=1)
case("softmax/positive_100", "Scores around 100: just beyond what exp can hold in float32, 88.", "softmax_no_max", gain=(0.3, 0.5, 1),
     shift=(6.5, 6.5, 0), N=1)
case("softmax/positive_1e4", "Scores around 10000, close together.", "softmax_no_max", gain=(0.04, 0.04, 1),
     shift=(67, 67, 0), N=1)
case("softmax/negative", "Scores around -300: a maximum that starts at 0 makes every weight 0/0.", "softmax_max_0",
     gain=(0.2, 0.22, 1), shift=(11.5, -11.5, 0), N=1)
case("softmax/negative_5e4", "Scores below -50000: beyond a maximum that starts at a finite 'small' number.",
     "softmax_max_minus_5e4 softmax_max_0", gain=(0.02, 0.015, 1), shift=(164, -164, 0), N=1)
case("softmax/negative_masked", "Scores around -20000 and a mask: a fill with -10000 wins the softmax.",
     "mask_fill_minus_1e4 mask_fill_minus_100 softmax_max_minus_1e4 mask_zero_score",
     gain=(0.03, 0.025, 1), shift=(95, -95, 0), attn=drawn(2))
case("softmax/masked_giant", "A masked key whose score is greater by some 20000 than any other: adding -10000 lets it through.",
     "mask_add_minus_1e4 mask_add_minus_100 mask_after_softmax_renormalised", N=2,
     pad=rows("..x....", "....x.."), shift=(60, 0, 0), gain=(0.3, 0.06, 1), edit=lambda t, c: _giant(t))
case("softmax/masked_larger",
     "A masked key whose score is greater by some 1000 than any other: adding -100 lets it through, and a mask after the softmax leaves nothing.",
     "mask_add_minus_100 mask_after_softmax_renormalised", N=2,
     pad=rows("....x..", ".x....."), shift=(60, 0, 0), gain=(0.3, 0.06, 1), edit=lambda t, c: _giant(t, (4, 1), 200))
case("softmax/wide", "Scores of both signs up to some thousands: one winner a row, the rest underflow.", "softmax_no_max",
     gain=(40, 40, 1), because={"one_hot": "a spread of thousands leaves one winner"}, N=1)
for _name, _words, _content, _offset, _caught in (
        ("positive_apart", "around 230 for the winner of each row, around 0 for the others", 22.6, 0, "softmax_no_max"),
        ("negative_apart", "around -260 for the winner of each row, around -400 for the others", 18, 30, "softmax_max_0"),
        ("negative_5e4_apart", "around -52000 for the winner of each row, around -64000 for the others", 150, 374,
        "softmax_max_minus_5e4 softmax_max_minus_1e4 softmax_max_0")):
    case(f"softmax/{_name}", f"Scores {_words}: so far apart that 16-bit rounding leaves the winner alone.", _caught, N=1,
         edit=lambda t, c, content=_content, offset=_offset: _apart(t, c, content, offset),
         because={"one_hot": "near scores of this size have no order in 16 bits"})
case("softmax/positive_4e4_apart",
     "Scores around 41000 for the winner of each row, around 0 for the others: q k^T before the scale is beyond the largest float16.",
     "softmax_no_max", N=1, edit=lambda t, c: _apart(t, c, 300, 0),
     because={"one_hot": "near scores of this size have no order in 16 bits"})
case("softmax/positive_9e3_d64",
     "Heads of 64 channels, scores around 9500 for the winner of each row: the scale is 1/8, so q k^T overflows float16 where the scores are far from it.",
     "softmax_no_max", N=1, H=1, D=64, edit=lambda t, c: _winners(t, c, 276),
     because={"one_hot": "near scores of this size have no order in 16 bits"})
case("softmax/one_sign_d256",
     "Scores around 10 that are sums of 256 equal terms: a sum kept in 16 bits loses the same part of each term.",
     "scale_none scale_by_heads", N=1, H=1, L=2, S=5, D=256, edit=lambda t, c: _equal_terms(t, c))
case("softmax/negative_5e4_d1",
     "One channel a head, scores around -52000 for the winner of each row and down to -62000 for the others: there is no root to divide by, so "
     "float16 can hold them.", "softmax_max_minus_5e4 softmax_max_minus_1e4 softmax_max_0", N=1, D=1, edit=lambda t, c: _low(t, c),
     because={"one_hot": "near scores of this size have no order in 16 bits"})
case("softmax/ladder",
     "One channel and scores 0, -10, -40, -87, -104 below the greatest: exponentials down to and below the smallest float32.",
     "exp_clamped softmax_plus_1 exp_flushed", N=1, H=1, L=3, S=5, D=1, edit=lambda t, c: _ladder(t),
     because={"one_hot": "the weights are 1, e^-10, e^-40 and so on"})
case("softmax/ties", "Two keys are equal and greater than the others: weights of a half each.", "softmax_hard",
     gain=(3, 3, 1),
     edit=lambda t, c: t["key"].__setitem__((slice(None), 5), t["key"][:, 1]), N=1)
case("softmax/flat", "All scores nearly equal: the plain mean of the values, nearly.", "softmax_unnormalised softmax_pad_4 softmax_by_count",
     gain=(0.04, 0.04, 1), shift=(0, 0, 0),
     because={"flat": "the softmax at its flattest shows the normaliser"}, N=1)
case("softmax/negative_bias_kv", "All real scores below -300 and a zero row: the zero row takes everything, unless it is not there.",
     "zero_attn_ignored softmax_max_not_last",
     gain=(0.2, 0.22, 1), shift=(12, -12, 0), zero_attn=True, because={"one_hot": "the zero row wins everywhere"}, N=1)


def _giant(t, keys=(2, 4), size=4000):
    for n, j in enumerate(keys):
        t["key"][n, j] = 0
        t["key"][n, j] = np.sign(t["in_proj_weight"][10:20].sum(0)) * size


def _low(t, c):
    t["in_proj_weight"][:2 * c.E] = np.tile(np.eye(c.E), (2, 1))
    t["query"] = 250 + t["query"]
    for h in range(c.H):
        t["key"][..., h] = -206.0 - 7 * np.roll(np.arange(c.S), 2 + 3 * h)


def _apart(t, c, content, offset):
    """Query i and key 3 - i agree in channel i of each head; the last channel moves all scores down."""
    t["in_proj_weight"][:2 * c.E] = np.tile(np.eye(c.E), (2, 1)) + t["in_proj_weight"][:2 * c.E] / 64
    t["query"], t["key"] = t["query"] / 64, t["key"] / 64
    for h in range(c.H):
        for i in range(4):
            t["query"][:, i, h * c.D + i] += content
            t["key"][:, 3 - i, h * c.D + i] += content
        t["query"][..., h * c.D + 4] += offset
        t["key"][..., h * c.D + 4] -= offset


def _plain_weights(t, c):
    """q and k are query and key; v and the output take few channels: files of wide heads stay small."""
    t["in_proj_weight"] = np.tile(np.eye(c.E), (3, 1))
    t["in_proj_bias"][:2 * c.E] = 0.25
    t["out_proj.weight"] = np.roll(np.eye(c.E), 1, axis=1)


def _winners(t, c, content):
    """Query i and key S - 1 - i agree in channel i; the other channels are small."""
    _plain_weights(t, c)
    t["query"], t["key"] = t["query"] / 16, t["key"] / 16
    for i in range(c.L):
        t["query"][:, i, i] += content
        t["key"][:, c.S - 1 - i, i] += content


def _equal_terms(t, c):
    """All channels of a query are equal, and all channels of a key."""
    _plain_weights(t, c)
    t["in_proj_bias"][:2 * c.E] = 2.0 ** -7
    t["query"] = np.broadcast_to(np.array([0.79, 0.84]).reshape(1, 2, 1), t["query"].shape)
    t["key"] = np.broadcast_to(np.array([0.81, 0.67, 0.76, 0.86, 0.72]).reshape(1, 5, 1), t["key"].shape)
    t["value"] = np.where(np.arange(c.E) < 24, np.rint(2 * t["value"]) / 2, 0)
    t["in_proj_bias"][2 * c.E + 24:] = 0


def _ladder(t):
    t["in_proj_weight"] = np.array([[1.0], [1.0], [0.5]])
    t["in_proj_bias"] = np.array([0.25, 0.5, 0.75])
    t["query"] = np.array([0.75, 0.25, -1.25]).reshape(1, 3, 1)
    t["key"] = np.array([0.0, -10, -40, -87, -104])[::-1].copy().reshape(1, 5, 1)


# ---- tails: what is left over from groups of 2, 4, 8, 16, 32 and 64 ----

# channels of a head and queries together: (1,5) (2,2) ... so that no two of the three sizes run in step
for _d, _l in ((1, 5), (2, 2), (3, 65), (5, 33), (7, 3), (9, 17), (17, 9), (33, 1)):
    case(f"tails/d{_d:02}_l{_l:02}",
         f"Heads of {_d} channel{'s' if _d > 1 else ''}, {_l} quer{'ies' if _l > 1 else 'y'}: the rest of loops over groups, and the scale.",
         "score_tail_4 rows_tail_4 scale_padded4 scale_half scale_8 " + ("merge_seq_batch" if _d == 1 else "split_interleaved"),
         N=2 if _d * _l < 40 else 1, H=2, L=_l, S=6 if _d * _l < 33 else 4, D=_d)
for _s in (1, 2, 3, 5, 9, 17, 33, 65):
    _masks = {5: dict(pad=lengths(5, 3)), 17: dict(pad=lengths(17, 11)), 33: dict(attn=drawn(2)),
    65: dict(pad=lengths(65, 43), H=1)}.get(_s, {})
    case(f"tails/s{_s:02}",
         f"{_s} key{'s' if _s > 1 else ''}: the rest of a softmax over groups{', some of them masked' if _masks else ''}.",
         "keys_tail_4 softmax_pad_4 softmax_pad_8" + (" masks_tail_ignored" if _masks and _s != 33 else ""), **{**dict(N=2, H=2, L=3, S=_s, D=3),
         **_masks},
         because={"one_key": "one key has weight 1, whatever its score"} if _s == 1 else {})

# ---- degenerate: sizes of 1 and 0 ----

ONE = {"one_key": "one key has weight 1, whatever its score"}
case("degenerate/all_ones", "Every size is 1: five numbers decide.", "order_qvk order_vkq b_v_ignored out_skipped", N=1, H=1, L=1, S=1, D=1,
     because=ONE)
case("degenerate/one_head", "H = 1.", "w_untransposed scale_none", H=1)
case("degenerate/heads_of_one", "H = E: every head has one channel and the scale is 1.", "scale_by_embed_dim scale_half merge_no_transpose",
     H=5, D=1, gain=(1.3, 1.3, 1))
case("degenerate/more_queries", "L = 7 and S = 3.", "pv_transposed weights_transposed", L=7, S=3, N=2)
case("degenerate/one_query_one_key", "L = S = 1 with a batch: nothing but projections.", "b_v_ignored", L=1, S=1,
     because=ONE)
case("degenerate/no_queries", "L = 0: empty results of the right shape.", "", L=0,
     kills_nothing="it has no numbers; shapes and crashes are what it asks for", because={"empty": "that is what the vector is about"})
case("degenerate/no_items", "N = 0: empty results of the right shape.", "", N=0,
     kills_nothing="it has no numbers; shapes and crashes are what it asks for", because={"empty": "that is what the vector is about"})
case("degenerate/no_keys", "S = 0: the sum over no values is 0, so the output is out_proj.bias; there is no 0/0.",
     "out_bias_ignored", S=0,
     because={"empty": "that is what the vector is about"})
case("degenerate/no_keys_bias_kv", "S = 0 with add_bias_kv and add_zero_attn: the appended rows are the only ones.",
     "bias_kv_ignored zero_attn_ignored", S=0, bias_kv=True, zero_attn=True,
     edit=lambda t, c: t["bias_k"].__imul__(3))

# ---- layout: the numbers of core/cross, stored otherwise; the stages are the same ----

LAYOUT = "batch_first_forced merge_seq_batch"
case("layout/seq_first", "batch_first=False, PyTorch's default: (L,N,E). The weights stay (N,H,L,S). The numbers of core/cross.", LAYOUT,
     layout="seq_first", numbers="core/cross")
case("layout/unbatched", "No batch dimension. The numbers of item 0 of core/cross.", "", N=1, layout="unbatched",
     numbers="core/cross")
case("layout/square_seq_first", "N = L = S, (L,N,E): a mix-up of batch and sequence stays inside everywhere.", LAYOUT, N=3, L=3, S=3,
     layout="seq_first")
case("layout/unbatched_masks", "Unbatched with attn_mask (L,S) and key_padding_mask (S).", MERGE, N=1,
     layout="unbatched", attn=drawn(2), pad=rows("..x...x"))
case("layout/unbatched_3d", "Unbatched with attn_mask (H,L,S), float.", "mask3d_first", N=1, H=3, layout="unbatched",
     attn=added(3))
case("layout/seq_first_masks", "(L,N,E) with both masks, whose batch dimension stays in front.", f"{LAYOUT} {MERGE} {THREE}",
     layout="seq_first", attn=drawn(3), pad=rows("x...x..", ".xx....", "....xxx"))

# ---- twins: what round sizes hide; compare what they catch with core/cross ----

case("twins/square", "N = H = 2 and L = S = 5: transposes and swapped dimensions have the right shape here.",
     "order_kqv w_untransposed pv_transposed kv_from_query k_from_query v_from_query q_from_key", N=2, H=2, L=5, S=5)
case("twins/d4", "D = 4: a scale of 1/2 is right by chance.", "scale_none scale_8 scale_by_embed_dim", D=4)
case("twins/d64", "D = 64: a scale of 1/8 is right by chance.", "scale_none scale_half", N=1, H=1, L=3, S=5, D=64)
case("twins/symmetric_weights", "Every weight is symmetric: x W and x W^T are the same.", "order_kqv b_ignored", N=1, edit=lambda t,
     c: _symmetric(t, c))
case("twins/fresh_biases", "All biases are 0, as in a module that nobody trained.", "order_kqv w_untransposed", N=1, edit=lambda t,
     c: [t[k].__imul__(0) for k in t if "bias" in k],
     because={"zero_bias": "shows that every bias mistake passes on a fresh module"})
case("twins/equal_masks", "The same mask for all items and heads: the index n*H+h does not matter.", "attn_ignored", attn=lambda c,
     pad: np.repeat(drawn(2)(c, pad)[None], c.N * c.H, 0),
     because={"equal_masks": "shows what equal masks hide"}, N=2)


def _symmetric(t, c):
    blocks = t["in_proj_weight"].reshape(3, c.E, c.E)
    t["in_proj_weight"] = np.tril(blocks) .reshape(-1, c.E) + np.tril(blocks, -1).swapaxes(1, 2).reshape(-1, c.E)
    t["out_proj.weight"] = np.tril(t["out_proj.weight"]) + np.tril(t["out_proj.weight"], -1).T


# ---- numbers: off the grid, large, small, cancelling ----

case("numbers/self", "Full float32 mantissas, self-attention.", "", L=5, S=5, branch="self", off_grid=True, N=2)
case("numbers/encdec", "Full float32 mantissas, key is value.", "", branch="encdec", off_grid=True, N=2)
case("numbers/cross", "Full float32 mantissas, three different arguments.", "", off_grid=True, N=2)
case("numbers/separate", "Full float32 mantissas, kdim and vdim.", "", kdim=6, vdim=9, off_grid=True, N=2)
case("numbers/no_bias", "Full float32 mantissas, no bias.", "", bias=False, off_grid=True, N=2)
case("numbers/bias_kv", "Full float32 mantissas, both appended rows.", "", bias_kv=True, zero_attn=True, off_grid=True, N=2)
case("numbers/float_masks", "Full float32 mantissas, both masks float.", FLOATS, attn=added(2, percent=20),
     pad=padding_added(percent=20), off_grid=True, N=2,
     version="PyTorch 1.13 ignores the padding here.")
case("numbers/causal", "Full float32 mantissas, causal.", CAUSAL, L=6, S=6, branch="self", attn=causal(), is_causal=True,
     off_grid=True, N=2)
case("numbers/large_biases", "Biases around 20 beside products around 1: the addend decides the rounding.",
     "b_ignored b_order_qvk b_added_twice", shift=(4, 0, 20), gain=(0.6, 0.35, 1), off_grid=True, N=1)
case("numbers/offset_1000", "All inputs are about 1000 and differ little: sums are long and nearly equal, differences carry the meaning.",
     "softmax_no_max",
     off_grid=True, edit=lambda t, c: _offset(t, c, 1000.0), gain=(0.002, 0.2, 1), N=1)
case("numbers/cancelling", "Long sums of large terms that nearly cancel.", "", off_grid=True, H=2, D=17, N=1,
     edit=lambda t, c: _cancel(t, c), L=3, S=5)
case("numbers/outlier", "One channel is a hundred times larger than the others, as in real models.", "",
     off_grid=True,
     edit=lambda t, c: _outlier(t, c), N=1)
case("numbers/equal_values", "Nearly equal values: the weights hardly matter, their sum does.",
     "softmax_unnormalised softmax_by_count", off_grid=True,
     edit=lambda t, c: t.__setitem__("value", 1.5 + t["value"] / 512), N=1)
case("numbers/one_sign", "Everything is positive: rounding errors lean one way.", "w_untransposed", off_grid=True,
     gain=(0.2, 0.6, 1),
     edit=lambda t, c: [t.__setitem__(k, np.abs(t[k])) for k in t], N=1)
case("numbers/tiny_values", "Values near 2^-90: a constant added anywhere, an epsilon say, is all that one sees.",
     "out_bias_ignored order_qvk", edit=lambda t, c: _tiny(t, c, 2.0 ** -90), N=1)
case("numbers/subnormal",
     "Values near 2^-122: weights times values fall into the subnormal numbers; flushing them is allowed, garbage is not.", "",
     edit=lambda t, c: _tiny(t, c, 2.0 ** -118), N=1)
case("numbers/dropout", "dropout=0.5 in evaluation: it changes nothing. The numbers of item 0 of core/cross.",
     "", dropout=0.5, numbers="core/cross", N=1)


def _offset(t, c, by):
    for name in ("query", "key", "value"):
        t[name] = t[name] + by


def _cancel(t, c):
    E = c.E
    for name in ("query", "key", "value"):
        half = t[name][..., :E // 2] + 16
        t[name] = np.concatenate([half, half + t[name][..., E // 2:2 * (E // 2)] / 32, t[name][..., 2 * (E // 2):]], axis=-1)
    w = t["in_proj_weight"]
    w[:, E // 2:2 * (E // 2)] = -w[:, :E // 2] + w[:, E // 2:2 * (E // 2)] / 64
    w[:2 * E] *= 8


def _outlier(t, c):
    for name in ("query", "key", "value"):
        t[name] = t[name].copy()
        t[name][..., 3] *= 100
    t["in_proj_weight"] = t["in_proj_weight"].copy()
    t["in_proj_weight"][:2 * c.E, 3] *= 0.01


def _tiny(t, c, by):
    for name in ("value", "out_proj.bias"):
        t[name] = t[name] * by
    t["in_proj_bias"][2 * c.E:] *= by


# ---- medium: blocks and long sums ----

case("medium/e48_full", "Full float32 mantissas, sums of 48.", "", N=1, H=4, L=3, S=7, D=12, off_grid=True)
case("medium/causal_blocks", "Two heads of 3, 21 by 21, causal: edges inside and between blocks of 16.", CAUSAL, N=1, H=2, L=21, S=21, D=3,
     branch="self", attn=causal(), is_causal=True)
case("medium/e256",
     "E = 256 in eight heads, L = 16, S = 24: sums long enough to block; weights of one bit or two, for the size of the file.",
     "rows_first_8 order_kqv", N=1, H=8, L=16, S=24, D=32,
     edit=lambda t, c: [t.__setitem__(k, np.rint(8 * t[k]) / 8) for k in ("in_proj_weight", "out_proj.weight")])
case("medium/s129", "129 keys and 9 queries: several blocks, one rest.", "keys_first_64 rows_first_8 softmax_online_no_rescale", N=1, H=1,
     L=9, S=129, D=3)
case("medium/s300", "300 keys: an online softmax changes its maximum often.", "keys_first_256 keys_first_64 softmax_online_no_rescale", N=1, H=1, L=2,
     S=300, D=3)
case("medium/rising", "Scores rise or fall from key to key: where they rise, an online softmax changes its maximum at every step.", "softmax_online_no_rescale", N=1,
     H=1, L=2, S=70, D=5,
     edit=lambda t, c: t.__setitem__("key", t["key"] / 64 + np.arange(c.S)[:, None] / 16.0))

# ---- trained ----

case("trained/minilm", "A layer that was really trained: E = 384 in twelve heads, a short English sentence, self-attention.",
     "order_kqv order_qvk scale_none",
     N=1, H=12, L=7, S=7, D=32, branch="self", off_grid=True, trained=True)

# ---- long lists: sizes and edges, and every pair of options ----

edges.add(case)
pairs.add(case)
