/* SPDX-License-Identifier: MIT */
/*
 * Vectors x kernel -> verdicts.
 */
#ifndef QKVEC_JUDGE_H
#define QKVEC_JUDGE_H

#include <stdint.h>

#include "compare.h"
#include "expected.h"

/* UNJUDGED: the judge itself could not do its work (no memory, no file, no process). It says
 * nothing about the kernel. */
enum outcome { OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_SKIP, OUTCOME_CRASH, OUTCOME_TIMEOUT, OUTCOME_ERROR, OUTCOME_UNJUDGED, OUTCOMES };
extern const char *const outcome_names[OUTCOMES];    /* "pass" "fail" "skip" "crash" "timeout" "error" "unjudged" */

struct verdict {
    char vector[128];                /* its name */
    enum outcome outcome;            /* skip: not applicable to the profile, or the kernel said so */
    const struct profile *profile;   /* what was asked for */
    const struct profile *meets;     /* the tightest profile that the results meet; NULL where none */
    const struct policy *policy;     /* of the answer that matched, or of the nearest one: its first but PyTorch's; NULL if nothing was judged */
    size_t combination;              /* of policies (policy.h), that give this answer */
    uint64_t fits;                   /* bit c: the results match the answer of combination c, accepted or not */
    int is_policy;                   /* FAIL for its policy alone: the numbers are right */
    uint32_t judged;                 /* bit k: stage k was given and compared */
    uint32_t features;               /* bit k: the vector has feature k of feature.h */
    int not_applicable;              /* skipped by the profile, not by the kernel */
    int finite;                      /* at least one finite number was compared */
    enum mha_stage first_wrong;      /* STAGES where none is wrong */
    double noise;                    /* rms error in sigma over all measured elements; NaN where none */
    struct element worst;            /* of the first wrong stage, else of all judged stages */
    char reason[512];                /* one sentence: why it failed, was skipped, ... "" for a plain pass */
};

/* Accept the answer of this combination alone, if allowed has it (policy_allowed()):
 * set outcome, policy and reason of a verdict whose fits is not 0. Results that
 * match another combination become failures by their policy. */
void verdict_keep_to(struct verdict *verdict, size_t combination, uint64_t allowed);

/* A kernel answers by one combination of policies in a whole run: find the one
 * that most verdicts fit, and keep all to it. Returns it. */
size_t verdicts_keep_to_one(struct verdict *verdicts, size_t count, uint64_t allowed);

/* The combinations that all of these verdicts fit which fit any. */
uint64_t verdicts_common(const struct verdict *verdicts, size_t count);

/* "scores overflow float16 before they are scaled: NaN from |q k| > 65504 on": a policy's sentence under a profile. */
#define POLICY_SENTENCE 240
const char *policy_sentence(char text[POLICY_SENTENCE], const struct policy *policy, const struct profile *p);

/* The stages that a kernel returns, not the steps on the way to them. */
enum { RETURNED = 4 };
extern const enum mha_stage returned_stages[RETURNED];

/* Judge one set of results: output is required of a layer, head_outputs of a
 * core. got[k].v is NULL for a stage that was not given;
 * got[k].name may be NULL then. v holds the numbers that the kernel was given
 * (rounded to the profile's type; rounded says whether that changed any). */
void judge(struct verdict *verdict, const struct vector *v, int rounded,
           const struct array got[STAGES], const struct profile *p, enum scope scope);

/* What a kernel did with one vector. */
struct result {
    enum outcome outcome;            /* PASS: got is to be judged; anything else is the verdict already */
    struct array got[STAGES];        /* malloc'd numbers; free with mha_free */
    char reason[512];
};

/* Where results come from. v is already rounded to the profile's type. */
struct adapter {
    const char *name;                                                  /* of the kernel, for the report */
    void (*answer)(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p);
    void *state;
    enum scope scope;                                                  /* what its kernel computes */
    int pass;                                                          /* 0; 1 in a second round over the vectors */
    int is_reference;                                                 /* its results are all stages by mha_forward() */
    uint64_t allowed;                                                  /* combinations that pass; 0: those of conformant policies */
    int pass_suffices;                                                 /* verdict.meets of what passes may be the profile asked for */
};

/* The reference itself. */
struct adapter adapter_reference(void);

/* DIR/<name>.npz made by anything. allow_missing: a vector without a file is a
 * skip, not a failure. */
struct adapter_results { const char *dir; int allow_missing; };
struct adapter adapter_results(struct adapter_results *where);

/* What a file holds, by the names of the stages; subject is the file's name in
 * a sentence. A file that is none gives the outcome FAIL. */
void results_read(struct result *result, const char *path, const char *subject, const struct vector *v);

/* Take over the arrays of a vector's file, round them, let the adapter answer,
 * judge. What is no vector returns its sentence (then there is no verdict: exit
 * status 2). kept: NULL, or takes what the adapter gave (free with mha_free), as
 * vectors; where that passed only output, attn_weights, attn_weights_mean and
 * head_outputs. */
const char *judge_arrays(struct verdict *verdict, struct array kept[STAGES], struct adapter *adapter, struct npz *file, const char *name,
                         const struct profile *p, char error[600]);

#endif
