# SPDX-License-Identifier: MIT
"""THE list: one entry, one vector. To add a vector, add an entry and run gen/generate.py.

The base shape N=3 H=2 L=4 S=7 D=5 (Case's defaults) has no two sizes equal and none a multiple of 4, so that nothing
hides behind a coincidence. catches names mistakes, most telling first.
"""
import numpy as np

import hashed
from inputs import Case, added, causal, drawn, lengths, padding_added, rows

CORPUS_VERSION = "1.0.0"
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


def _exact(t, c):
    _integers(t, c, -1, 1, thin=2)
    t["in_proj_bias"] = hashed.integers(c.source, "bias.whole", t["in_proj_bias"].shape, 1, 3) / 4.0
    t["out_proj.bias"] = hashed.integers(c.source, "out bias", (c.E,), 1, 8) / 4.0
    order = np.argsort(hashed.words(c.source, "order", c.E))
    signs = 1.0 - 2 * hashed.integers(c.source, "signs", (c.E,), 0, 1)
    t["out_proj.weight"] = np.eye(c.E)[order] * signs[:, None]


BLOCKS = "order_kqv order_qvk order_vkq order_kvq w_untransposed w_interleave_head"
HEADS = "split_no_transpose split_interleaved merge_no_transpose merge_interleaved merge_head_rev all_heads_head0 k_head0"
SCALES = "scale_none scale_mul scale_D scale_E scale_H scale_half scale_8 scale_padded4 scale_after_softmax"

case("core/answer",
     "The shapes of the well-known answer: token ids 0..7 through an Embedding(16, 24), three heads of 8, batch 2, length 4, query is key "
     "is value, weights per head; but with biases, which a fresh module has not.",
     "order_kqv order_qvk w_untransposed b_ignored split_no_transpose merge_no_transpose out_untransposed scale_E softmax_q",
     N=2, H=3, L=4, S=4, D=8, branch="self", edit=_embedding)
case("core/cross", "Query, key and value all different and of the base shape: most mistakes that need no mask show here.",
     f"{BLOCKS} {HEADS} {SCALES} v_from_key k_from_value kv_from_query no_in_proj pv_transposed weights_sum weights_max")
case("core/self", "Query is key is value: one product with the whole of in_proj_weight.", "order_kqv b_interleave_head softmax_q causal_always",
     L=4, S=4, branch="self")
case("core/encdec", "Key is value and query is another, as between decoder and encoder: two products.", "kv_from_query order_qvk v_from_key",
     branch="encdec")
case("core/per_head", "Weights per head: the order of heads and batch items, and rows that add up to 1.",
     "weights_HN weights_T weights_logits weights_head0 softmax_heads softmax_joint softmax_unnorm", H=5, D=3)
case("core/no_bias", "bias=False: neither in_proj_bias nor out_proj.bias exists.", "null_bias scale_none", bias=False)
case("core/printable", "Small whole numbers, to be followed on paper.", "w_untransposed split_no_transpose",
     N=1, H=2, L=2, S=3, D=2, edit=lambda t, c: _integers(t, c, thin=2))
case("core/exact", "Quarters, D=16 hence a scale of 1/4, and a signed permutation as out_proj: every stage up to the scores is exact "
     "in any order of summation.", "out_untransposed merge_interleaved scale_half", N=2, H=2, L=3, S=5, D=16, edit=_exact)
