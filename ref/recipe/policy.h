/* SPDX-License-Identifier: MIT */
/*
 * Policies: the answers other than PyTorch's main one that kernels give to a
 * question that PyTorch itself answers in more than one way, or that a type's
 * range raises.
 *
 * A policy is a step between mha_core() and mha_output(); mha.c knows nothing of it.
 * A kernel answers each question by one policy, in all vectors of a run: a
 * combination is one policy, or PyTorch's main answer, for each question.
 *
 * To add a policy, add a line to policies[] in policy.c and its name to the enum
 * below.
 */
#ifndef QKVEC_POLICY_H
#define QKVEC_POLICY_H

#include <stdint.h>

#include "mha.h"

enum policy_question {
    QUESTION_ROWS,        /* rows without an open key */
    QUESTION_MASKED,      /* NaN and infinity in keys and values that are masked */
    QUESTION_OVERFLOW,    /* scores that leave the type's range before they are scaled */
    QUESTIONS
};

struct policy {
    const char *name;              /* for --allow, and in a vector file: alt.<name>.<stage> */
    enum policy_question question; /* unused by pytorch, the main answer to every question */
    int conformant;                /* accepted without --allow */
    const char *allowed_by;        /* --allow takes this name too, or NULL */
    const char *sentence;          /* what it answers, and who answers so */
    void (*change)(struct array t[STAGES], const struct mha_in *in, double largest);    /* masked_scores, attn_weights, head_outputs; or NULL */
};

enum {
    POLICY_PYTORCH, POLICY_ZERO_ROWS, POLICY_NEED_WEIGHTS_FALSE, POLICY_MEAN_ROWS, POLICY_MEAN_ROWS_BOOL,
    POLICY_MASKED_IGNORED, POLICY_MASKED_FILLED, POLICY_SCORES_OVERFLOW, POLICIES
};
extern const struct policy policies[POLICIES];

/* Returns NULL if no policy has this name. */
const struct policy *policy_named(const char *name);

/* "a, b or c": the names of all policies but pytorch. Returns text. */
#define POLICY_LIST 256
const char *policy_names(char text[POLICY_LIST]);

/* ---- combinations, by number; 0 is PyTorch's main answer to every question ---- */

/* How many there are: at most 64, so that a set of them is a uint64_t. */
size_t policy_combinations(void);

/* The policy by which a combination answers a question: POLICY_PYTORCH or one of that question. */
int policy_of(size_t combination, enum policy_question question);

/* The combination that answers by this policy alone. */
size_t policy_alone(int policy);

/* The only policy of a combination other than PyTorch's main answer; POLICY_PYTORCH
 * if it has none, POLICIES if it has several. */
int policy_single(size_t combination);

/* The first policy of a combination other than PyTorch's main answer; pytorch if it has none. */
const struct policy *policy_first(size_t combination);

/* The combinations whose policies are all conformant or in allowed (bit k: policies[k]). */
uint64_t policy_allowed(uint32_t allowed);

/* The same for "NAME[,NAME...]", or NULL for none, into *allowed. Returns NULL,
 * or the error message "NAME: no such policy; wanted ...". */
#define POLICY_ERROR (POLICY_LIST + 128)
const char *policy_allow(uint64_t *allowed, const char *names, char error[POLICY_ERROR]);

/* The combination without its policies on other questions (bit q: question q). It is not larger. */
size_t policy_restricted(size_t combination, uint32_t questions);

/* The smallest combination of the set that answers every question as combination
 * does or as PyTorch does; combination itself if there is none. */
size_t policy_reduced(size_t combination, uint64_t set);

/* ---- numbers; largest is the type's largest finite number ---- */

/* Bit q: question q arises. t is made by mha_core(). */
uint32_t policy_questions(const struct array t[STAGES], double largest);

/* Change stages made by mha_core() into those of a combination, up to head_outputs. */
void policy_apply(struct array t[STAGES], const struct mha_in *in, size_t combination, double largest);

/* The whole recipe under a policy. */
void policy_forward(struct array t[STAGES], const struct mha_in *in, int policy, double largest);

/* The first stage that a policy of vector files may change. */
#define POLICY_FIRST_STAGE MASKED_SCORES

#endif
