/* SPDX-License-Identifier: MIT */
/* X(mistake, what it is called): the table of kernel.c. */
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
    X(v_from_key, "v_from_key") X(k_from_value, "k_from_value") X(kv_from_query, "kv_from_query") X(kv_swapped, "kv_swapped") X(kv_batch_0, "kv_batch_0") X(batch_first_inverted, "batch_first_inverted") \
    /* heads */ \
    X(split_no_transpose, "split_no_transpose") X(split_interleaved, "split_interleaved") X(all_heads_head0, "all_heads_head0") X(split_head_rev, "split_head_rev") \
    X(q_head0, "q_head0") X(k_head0, "k_head0") X(v_head0, "v_head0") \
    X(merge_no_transpose, "merge_no_transpose") X(merge_interleaved, "merge_interleaved") X(merge_head_rev, "merge_head_rev") \
    X(merge_seq_batch, "merge_seq_batch|layout") X(merge_rows_first, "merge_rows_first") X(pv_transposed, "pv_transposed") \
    /* scale */ \
    X(scale_none, "scale_none") X(scale_mul, "scale_mul") X(scale_d, "scale_d") X(scale_E, "scale_by_embed_dim") X(scale_heads, "scale_by_heads") \
    X(scale_half, "scale_half") X(scale_8, "scale_8") X(scale_padded4, "scale_padded4") X(scale_padded8, "scale_padded8") \
    X(scale_after_softmax, "scale_after_softmax") X(scale_over_mask, "scale_over_mask") \
    /* softmax */ \
    X(softmax_q, "softmax_q") X(softmax_heads, "softmax_heads") X(softmax_joint, "softmax_joint") X(softmax_no_max, "softmax_no_max") \
    X(softmax_max_0, "softmax_max_0") X(softmax_sentinel, "softmax_max_minus_5e4") X(softmax_base2, "softmax_base2") X(softmax_unnormalised, "softmax_unnormalised") \
    X(softmax_plus_1, "softmax_plus_1") X(softmax_sink, "softmax_with_sink") X(softmax_pad_4, "softmax_pad_4") X(sigmoid, "softmax_sigmoid") X(score_alibi, "score_alibi") X(score_softcap, "score_softcap") \
    /* masks */ \
    X(attn_bool_inverted, "attn_bool_inverted") X(kpm_bool_inverted, "kpm_bool_inverted") X(attn_bool_added_1, "attn_bool_added_1") \
    X(bool_added_minus_1, "bool_masks_added_minus_1") X(kpm_bool_added_1, "kpm_bool_added_1") X(attn_ignored, "attn_ignored") X(kpm_ignored, "kpm_ignored") \
    X(attn_overrides_kpm, "attn_overrides_kpm") X(kpm_overrides_attn, "kpm_overrides_attn") X(attn_float_as_bool, "attn_float_as_bool") \
    X(kpm_float_as_bool, "kpm_float_as_bool") X(attn_float_sign, "attn_float_sign") X(kpm_float_sign, "kpm_float_sign") \
    X(mask_zero_score, "mask_zero_score") X(fill_1em9, "mask_zero_score") X(fill_100, "mask_fill_minus_100") X(fill_1e4, "mask_fill_minus_1e4") X(fill_1e9, "mask_fill_minus_1e9") \
    X(mask_after_softmax, "mask_after_softmax") X(attn_transposed, "attn_transposed") \
    X(mask3d_head_major, "mask3d_head_major") X(mask3d_batch_only, "mask3d_batch_only") X(mask3d_head_0, "mask3d_batch_head0") X(mask3d_head_only, "mask3d_head_only") X(mask3d_first, "mask3d_first") \
    X(kpm_batch_0, "kpm_batch_0") X(kpm_rows, "kpm_on_rows") X(kpm_twice, "kpm_added_twice") \
    X(causal_always, "causal_always") X(causal_bottom_right, "causal_bottom_right") X(causal_strict, "causal_strict") X(causal_plus_1, "causal_plus_1") X(causal_reversed, "causal_reversed") \
    /* appended rows */ \
    X(biaskv_ignored, "bias_kv_ignored") X(biaskv_swapped, "bias_kv_swapped") X(biaskv_added, "bias_kv_added") X(biaskv_projected, "bias_kv_projected") \
    X(biaskv_prepend, "bias_kv_prepended|permuted") X(extra_masked, "extra_rows_masked") X(zero_ignored, "zero_attn_ignored") X(zero_before_bias, "zero_before_bias_kv|permuted") \
    /* out */ \
    X(out_untransposed, "out_untransposed") X(out_skipped, "out_skipped") X(out_bias_ignored, "out_bias_ignored") \
    X(residual_added, "residual_added") X(mean_is_sum, "mean_is_sum") X(mean_is_max, "mean_is_max") X(mean_is_head_0, "mean_is_head_0") \
    X(weights_heads_first, "weights_heads_first|layout") X(weights_transposed, "weights_transposed|layout") X(weights_logits, "weights_masked_scores") \
    /* what is in no record */ \
    X(odd_temperature, "") X(odd_next_value_last_row, "") X(odd_scale_log_s, "") X(odd_squared_weights, "") X(odd_rotated_channel, "") \
    X(odd_cosine, "") X(odd_rope, "") X(odd_layernorm_q, "") X(odd_top3, "") X(odd_dropout, "") X(odd_gelu_values, "") \
    X(odd_rounded_scores, "") X(odd_window, "") X(odd_taylor_exp, "") X(odd_relu_output, "") \
    X(odd_talking_heads, "") X(odd_int8_values, "") X(odd_sink, "") X(odd_normalised_values, "")
