/* SPDX-License-Identifier: MIT */
/*
 * A kernel without projections, checked as a layer.
 *
 * verdict: NONE
 * says: exports qkvec_attention_core only: check it with --core
 */
#include "../examples/core.c"
