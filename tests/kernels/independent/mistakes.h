/* SPDX-License-Identifier: MIT */
/* X(mistake, fault that it is): the table of kernel.c. */
#define MISTAKES(X) \
    X(none, "") \
    /* in_proj: which rows */ \
    X(order_kqv, "order_kqv") X(order_qvk, "order_qvk") X(order_vkq, "order_vkq") X(order_kvq, "order_kvq") X(order_vqk, "order_vqk") \
    X(order_kqv_weights_only, "order_kqv_weights_only") X(k_from_v_block, "k_from_v_block") X(one_block_for_all, "one_block_for_all") X(w_packed_in_out, "w_packed_in_out") \
    X(in_untransposed, "in_untransposed") X(w_interleave_head_only, "w_interleave_head_bias_not") X(separate_kv_swapped, "separate_kv_swapped") \
    X(w_untransposed, "w_untransposed") X(w_interleave_head, "w_interleave_head") X(w_interleave_row, "w_interleave_row") \
    X(kdim_stride, "kdim_stride") X(vdim_stride, "vdim_stride") X(no_in_proj, "no_in_proj") \
    /* in_proj: bias */ \
    X(b_ignored, "b_ignored") X(b_q_ignored, "b_q_ignored") X(b_k_ignored, "b_k_ignored") X(b_v_ignored, "b_v_ignored") \
    X(b_q_only, "b_q_for_all") X(b_order_kqv, "b_order_kqv") X(b_order_qvk, "b_order_qvk") X(b_interleave_head, "b_interleave_head") X(b_twice, "b_added_twice") \
    /* sources */ \
    X(v_from_key, "v_from_key") X(k_from_value, "k_from_value") X(kv_from_query, "kv_from_query") X(kv_swapped, "kv_swapped") X(kv_batch_0, "kv_batch_0") X(batch_first_ignored, "batch_first_ignored") \
    /* heads */ \
    X(split_no_transpose, "split_no_transpose") X(split_interleaved, "split_interleaved") X(all_heads_head0, "all_heads_head0") X(split_head_rev, "split_head_rev") \
    X(q_head0, "q_head0") X(k_head0, "k_head0") X(v_head0, "v_head0") \
    X(merge_no_transpose, "merge_no_transpose") X(merge_interleaved, "merge_interleaved") X(merge_head_rev, "merge_head_rev") \
    X(merge_seq_batch, "merge_seq_batch") X(merge_rows_first, "merge_rows_first") X(pv_transposed, "pv_transposed") \
    /* scale */ \
    X(scale_none, "scale_none") X(scale_mul, "scale_mul") X(scale_D, "scale_D") X(scale_E, "scale_by_embed_dim") X(scale_H, "scale_H") \
    X(scale_half, "scale_half") X(scale_8, "scale_8") X(scale_padded4, "scale_padded4") X(scale_padded8, "scale_padded8") \
    X(scale_after_softmax, "scale_after_softmax") X(scale_over_mask, "scale_over_mask") \
    /* softmax */ \
    X(softmax_q, "softmax_q") X(softmax_heads, "softmax_heads") X(softmax_joint, "softmax_joint") X(softmax_no_max, "softmax_no_max") \
    X(softmax_max0, "softmax_max0") X(softmax_sentinel, "softmax_sentinel") X(softmax_base2, "softmax_base2") X(softmax_unnorm, "softmax_unnorm") \
    X(softmax_plus1, "softmax_plus1") X(softmax_pad4, "softmax_pad4") X(sigmoid, "sigmoid") \
    /* masks */ \
    X(attn_bool_inverted, "attn_bool_inverted") X(kpm_bool_inverted, "kpm_bool_inverted") X(attn_bool_added1, "attn_bool_added1") \
    X(attn_bool_added_neg1, "attn_bool_added_neg1") X(kpm_bool_added1, "kpm_bool_added1") X(attn_ignored, "attn_ignored") X(kpm_ignored, "kpm_ignored") \
    X(attn_overrides_kpm, "attn_overrides_kpm") X(kpm_overrides_attn, "kpm_overrides_attn") X(attn_float_as_bool, "attn_float_as_bool") \
    X(kpm_float_as_bool, "kpm_float_as_bool") X(attn_float_sign, "attn_float_sign") X(kpm_float_sign, "kpm_float_sign") \
    X(mask_zero_score, "mask_zero_score") X(fill_1em9, "fill_-1e-9") X(fill_100, "fill_-100") X(fill_1e4, "fill_-1e4") X(fill_1e9, "fill_-1e9") \
    X(mask_after_softmax, "mask_after_softmax") X(attn_transposed, "attn_transposed") \
    X(mask3d_head_major, "mask3d_head_major") X(mask3d_batch_only, "mask3d_batch_only") X(mask3d_first, "mask3d_first") \
    X(kpm_batch0, "kpm_batch0") X(kpm_rows, "kpm_rows") X(kpm_twice, "kpm_twice") \
    X(causal_always, "causal_always") X(causal_br, "causal_br") X(causal_strict, "causal_strict") X(causal_plus1, "causal_plus1") X(causal_reversed, "causal_reversed") \
    /* appended rows */ \
    X(biaskv_ignored, "biaskv_ignored") X(biaskv_swapped, "bias_kv_swapped") X(biaskv_added, "biaskv_added") X(biaskv_projected, "biaskv_projected") \
    X(biaskv_prepend, "biaskv_prepend") X(extra_masked, "extra_masked") X(zero_ignored, "zero_attn_ignored") X(zero_before_bias, "zero_before_bias") \
    /* out */ \
    X(out_untransposed, "out_untransposed") X(out_skipped, "out_skipped") X(out_bias_ignored, "out_bias_ignored") \
    X(residual_added, "residual_added") X(mean_is_sum, "mean_is_sum") X(mean_is_max, "mean_is_max") X(mean_is_head0, "mean_is_head0") \
    X(weights_heads_first, "weights_HN") X(weights_transposed, "weights_T") X(weights_logits, "weights_logits") \
    /* what is in no record */ \
    X(odd_temperature, "") X(odd_next_value_last_row, "") X(odd_scale_log_s, "") X(odd_squared_weights, "") X(odd_rotated_channel, "") \
    X(odd_cosine, "") X(odd_rope, "") X(odd_alibi, "") X(odd_layernorm_q, "") X(odd_top3, "") X(odd_dropout, "") X(odd_gelu_values, "") \
    X(odd_tanh_cap, "") X(odd_rounded_scores, "") X(odd_window, "") X(odd_taylor_exp, "") X(odd_relu_output, "") \
    X(odd_talking_heads, "") X(odd_int8_values, "") X(odd_sink, "") X(odd_normalised_values, "")
