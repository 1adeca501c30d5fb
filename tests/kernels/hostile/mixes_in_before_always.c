/* SPDX-License-Identifier: MIT */
/*
 * The same for every case, the first of which is large: it has a ring slot, but not
 * the ring slot's block, which the 18th case is the first to use.
 *
 * verdict: ALL
 * says: output: 1 of [0-9]* elements are beyond
 * options: --once
 * vectors: medium/e256 projection/kdim projection/kdim_is_vdim projection/kdim_vdim projection/out_bias_only projection/separate_no_bias projection/vdim softmax/flat softmax/ladder softmax/masked_giant softmax/masked_larger softmax/negative softmax/negative_5e4 softmax/negative_5e4_apart softmax/negative_5e4_d1 softmax/negative_apart softmax/negative_masked softmax/positive softmax/positive_100 softmax/positive_1e4 softmax/positive_apart
 */
#define NOW 1
#include "mixes_in_before.c"
