/* SPDX-License-Identifier: MIT */
/*
 * A library that is no kernel.
 *
 * verdict: NONE
 * says: exports neither qkvec_kernel nor qkvec_attention_core
 */
int something_else(void);

int something_else(void)
{
    return 0;
}
