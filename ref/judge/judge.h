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
    const struct policy *policy;     /* the answer that matched, or the nearest one; NULL where nothing was judged */
    uint32_t judged;                 /* bit k: stage k was given and compared */
    uint32_t features;               /* bit k: the vector has feature k of feature.h */
    int not_applicable;              /* skipped by the profile, not by the kernel */
    int finite;                      /* at least one finite number was compared */
    enum mha_stage first_wrong;      /* STAGES where none is wrong */
    double noise;                    /* rms error in sigma over all measured elements; NaN where none */
    struct element worst;            /* of the first wrong stage, else of all judged stages */
    char reason[512];                /* one sentence: why it failed, was skipped, ... "" for a plain pass */
};

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
