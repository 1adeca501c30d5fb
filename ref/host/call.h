/* SPDX-License-Identifier: MIT */
/*
 * A vector as a kernel sees it: struct qkvec_call and its buffers.
 *
 * All inputs lie in one block of memory and all outputs in another, at offsets
 * that a plan holds. So a block may be anything (malloc, a shared mapping of
 * two processes), the plan may be sent somewhere else, and only call_bind()
 * makes addresses of it.
 */
#ifndef QKVEC_CALL_H
#define QKVEC_CALL_H

#include "../include/qkvec/kernel.h"
#include "../judge/judge.h"

enum call_input {
    CALL_QUERY, CALL_KEY, CALL_VALUE, CALL_IN_PROJ_WEIGHT, CALL_Q_WEIGHT, CALL_K_WEIGHT, CALL_V_WEIGHT,
    CALL_IN_PROJ_BIAS, CALL_OUT_WEIGHT, CALL_OUT_BIAS, CALL_BIAS_K, CALL_BIAS_V, CALL_ATTN_MASK,
    CALL_KEY_PADDING_MASK, CALL_MASK, CALL_Q_HEADS, CALL_K_HEADS, CALL_V_HEADS,
    CALL_INPUTS
};

/* In the order of the bits of *written. */
enum call_output { CALL_OUTPUT, CALL_ATTN_WEIGHTS, CALL_ATTN_WEIGHTS_MEAN, CALL_HEAD_OUTPUTS, CALL_OUTPUTS };

/* As the members of struct qkvec_call. */
extern const char *const call_input_names[CALL_INPUTS], *const call_output_names[CALL_OUTPUTS];

/* Where one array is, in bytes from the begin of its block. */
struct call_slot {
    int there;              /* 0: the kernel gets NULL. An empty array is there */
    size_t at, bytes;       /* its numbers */
    size_t first, past;     /* the room that is its own: [first, past) holds the numbers */
};

/* How arrays are laid out. page 0: side by side, 64-byte aligned. Otherwise
 * each has pages of its own with an unused page before and behind, and its
 * numbers end (at_end) or begin exactly where its pages do. */
struct call_layout { size_t page; int at_end; };

/* A case of small arrays has blocks of the same size and with the same unused
 * pages as every other one, so that they need not be mapped anew: every page
 * but the gaps may hold numbers. In pages: */
enum {
    CALL_PACKED_PAGES = 4,                                                /* of in_proj_weight, the first to outgrow a page */
    CALL_SMALL_INPUTS = 1 + CALL_PACKED_PAGES + 1 + 2 * (CALL_INPUTS - 1),
    CALL_SMALL_OUTPUTS = 1 + 2 * CALL_OUTPUTS
};
int call_input_gap(size_t page_number);      /* is it never used? */
int call_output_gap(size_t page_number);

struct call_plan {
    struct qkvec_call call;                  /* sizes, types and flags; no addresses */
    struct call_slot in[CALL_INPUTS], out[CALL_OUTPUTS];
    size_t in_bytes, out_bytes;              /* of the two blocks; never 0 */
    int small;                               /* laid out as every other case of small arrays */
};

/* What a call of this scope looks like. v is rounded to the type of p already. */
void call_plan(struct call_plan *plan, const struct vector *v, const struct profile *p,
               enum scope scope, struct call_layout layout);

/* Write all inputs into a block of plan->in_bytes that is clear. NULL, or a sentence. */
const char *call_fill(void *in, const struct call_plan *plan, const struct vector *v,
                      const struct profile *p, enum scope scope);

/* A clear block is 0xFF where a kernel can reach it, which is NaN in every type:
 * of a new one all rooms, of a used one what the case with these slots wrote. */
void call_clear(void *in, const struct call_plan *plan);
void call_clear_used(void *in, const struct call_slot used[CALL_INPUTS]);

/* The call itself, over blocks that hold what the plan says. */
void call_bind(struct qkvec_call *call, const struct call_plan *plan, const void *in, void *out,
               uint32_t *written, char reason[QKVEC_REASON]);

/* Fill the outputs' rooms with a pattern: as numbers, signalling NaN, which no
 * computation gives. There are two, pass 0 and 1. */
void call_blank(void *out, const struct call_plan *plan, int pass);

/* After the kernel: is an output that it said to have written partly as
 * call_blank left it, or what was around it changed? "" or a sentence. */
void call_inspect(char sentence[256], const void *out, const struct call_plan *plan, int pass, uint32_t written);

/* Was anything written to the pages that belong to no array? They are zero in
 * a block that was new once; a kernel can open them, on purpose. */
int call_strayed(const void *out, const struct call_plan *plan);

/* A number that tells the arrays in a block from others. */
uint64_t call_sum(const void *block, const struct call_slot *slot, int count);

/* The outputs that are written, as stages (malloc'd). NULL, or a sentence. */
const char *call_read(struct array got[STAGES], const void *out, const struct call_plan *plan, uint32_t written);

/* What the kernel returned, as an outcome: PASS goes on to be judged. */
void call_outcome(struct result *result, int returned, const char reason[QKVEC_REASON]);

/* Read an array of that type; write a part of one, from number first on. */
void call_get(double *x, const void *from, uint32_t dtype, size_t count);
void call_put(void *to, uint32_t dtype, size_t first, const double *x, size_t count);
size_t call_number_bytes(uint32_t dtype);
uint32_t call_dtype(const struct profile *p);    /* QKVEC_FLOAT32, ... */

/* ---- in this process, unguarded: for tests and benchmarks ---- */

typedef int call_kernel(const struct qkvec_call *call);

struct call {
    struct call_plan plan;
    struct qkvec_call call;     /* ready to be handed to a kernel, any number of times */
    void *in, *out;
    uint32_t written;
    char reason[QKVEC_REASON];
};

const char *call_make(struct call *c, const struct vector *v, const struct profile *p, enum scope scope);
void call_free(struct call *c);

/* A adapter to a function. state must outlive it. */
struct adapter_call { call_kernel *kernel; };
struct adapter adapter_call(struct adapter_call *state, const char *name, enum scope scope);

#endif
