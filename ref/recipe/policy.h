/* SPDX-License-Identifier: MIT */
/*
 * Where more than one answer is legitimate.
 *
 * A policy is a step between two parts of the recipe; mha.c knows nothing of it.
 */
#ifndef QKVEC_POLICY_H
#define QKVEC_POLICY_H

#include "mha.h"

struct policy {
    const char *name;        /* as in the vector file: alt.<name>.<stage> */
    const char *sentence;    /* what it answers */
    void (*before_core)(struct array t[STAGES], const struct mha_in *in);      /* or NULL */
    void (*before_output)(struct array t[STAGES], const struct mha_in *in);    /* or NULL */
};

/* pytorch (the recipe itself), zero_rows, masked_ignored */
enum { POLICY_PYTORCH, POLICY_ZERO_ROWS, POLICY_MASKED_IGNORED, POLICIES };
extern const struct policy policies[POLICIES];

/* The recipe under a policy, whole; and from q_heads, k_heads and v_heads on. */
void policy_forward(struct array t[STAGES], const struct mha_in *in, const struct policy *policy);
void policy_from_heads(struct array t[STAGES], const struct mha_in *in, const struct policy *policy);

/* The first stage that a policy may change; all before it are the recipe's own. */
#define POLICY_FIRST_STAGE MASKED_SCORES

#endif
