/* SPDX-License-Identifier: MIT */
#include "step_html.h"

#include <string.h>

static const char *const plain[] = {
    "order_kqv", "w_interleave_head", "w_untransposed", "b_ignored", "v_from_key", "split_no_transpose", "split_interleaved", "scale_none",
    "scale_by_embed_dim", "softmax_q", "causal_always", "merge_no_transpose", "out_skipped", "mean_is_sum", NULL,
};
static const char *const appended[] = { "attn_bool_inverted", "attn_ignored", "bias_kv_swapped", "zero_attn_ignored", NULL };
static const char *const closed[] = { "mask_fill_minus_1e9", "mask_row_opened", "mask_after_softmax", NULL };

const char *scene_make(struct scene *s, struct weave *w, int which)
{
    static const double rows[2][SCENE_NUMBERS] = { { 1, 0, 0, 1 }, { 1, 2, 3, 4 } };
    const char *wrong;

    *s = (struct scene){ .golden = which == 0 };
    if ((wrong = weave_vector(w, &s->v, "core/printable")))
        return wrong;
    if (which == 0) {
        s->english = "core/printable";
        s->chinese = "core/printable";
        s->mistakes = plain;
        return NULL;
    }
    s->v.in.attn_mask.ndim = 2;
    s->v.in.attn_mask.masked = s->masked;
    if (which == 1) {    /* query 1 keeps nothing but the appended rows */
        memcpy(s->masked, "\0\0\1\1\1\1", 6);
        memcpy(s->bias, rows, sizeof s->bias);
        s->v.in.bias_k = s->bias[0];
        s->v.in.bias_v = s->bias[1];
        s->v.in.add_zero_attn = 1;
        s->english = "... with a mask, bias_kv and zero_attn";
        s->chinese = "……加上掩码、bias_kv 和 zero_attn";
        s->mistakes = appended;
        return NULL;
    }
    memcpy(s->masked, "\1\1\1\0\0\1", 6);
    s->english = "... with a query that may see nothing";
    s->chinese = "……其中一个查询什么也不可以看";
    s->mistakes = closed;
    return NULL;
}
