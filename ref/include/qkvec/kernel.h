/* SPDX-License-Identifier: MIT */
/*
 * The whole interface between qkvec and an attention kernel. No dependency.
 *
 * Build a shared library that exports one of these, or both:
 *
 *     int qkvec_kernel(const struct qkvec_call *call);            the whole layer
 *     int qkvec_attention_core(const struct qkvec_call *call);    from heads to head_outputs
 *
 * and let "qkvec check --kernel ./libmine.so" judge it. The kernel fills the
 * outputs that it has, sets their bits in *written and returns QKVEC_DONE; it
 * returns QKVEC_SKIP, and may say why in reason, for what it does not support.
 *
 * Every array is contiguous and in C order; its shape stands beside it. All
 * inputs are read-only. Letters: N batch, L target length, S source length,
 * E embed_dim, Ek kdim, Ev vdim, H heads, D = E / H, Sx = S + 1 if there is
 * bias_k and bias_v + 1 if QKVEC_ZERO_ATTN. Any size but E and H may be 0.
 */
#ifndef QKVEC_KERNEL_H
#define QKVEC_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QKVEC_ABI 1

#if defined(_WIN32)
#define QKVEC_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define QKVEC_EXPORT __attribute__((visibility("default")))
#else
#define QKVEC_EXPORT
#endif

/* What the kernel returns; anything else is an error of that case. */
enum { QKVEC_DONE, QKVEC_SKIP };

/* Types of numbers. QKVEC_BOOL is one byte, 0 or 1. */
enum { QKVEC_FLOAT32, QKVEC_FLOAT64, QKVEC_FLOAT16, QKVEC_BFLOAT16, QKVEC_BOOL };

/* flags. QKVEC_CAUSAL is a hint: the mask is always there too. */
enum { QKVEC_CAUSAL = 1, QKVEC_ZERO_ATTN = 2 };

/* Bits of *written: what is not set is not judged. */
enum { QKVEC_OUTPUT = 1, QKVEC_ATTN_WEIGHTS = 2, QKVEC_ATTN_WEIGHTS_MEAN = 4, QKVEC_HEAD_OUTPUTS = 8 };

#define QKVEC_REASON 256

/* Grows at the end only; abi and size tell what the caller knew. */
struct qkvec_call {
    uint32_t abi, size;                   /* QKVEC_ABI, sizeof(struct qkvec_call) */
    uint32_t dtype;                       /* of every float array below, in and out */
    uint32_t flags;
    int64_t N, L, S, Sx, E, Ek, Ev, H;

    /* The layer: arguments and parameters of nn.MultiheadAttention. NULL for the core. */
    const void *query, *key, *value;      /* (N,L,E) (N,S,Ek) (N,S,Ev) */
    const void *in_proj_weight;           /* (3E,E): rows of q, of k, of v; NULL where the weights are separate */
    const void *q_weight, *k_weight, *v_weight;   /* (E,E) (E,Ek) (E,Ev): always there */
    const void *in_proj_bias;             /* (3E) or NULL */
    const void *out_weight, *out_bias;    /* (E,E); (E) or NULL */
    const void *bias_k, *bias_v;          /* (E) or NULL: one more key and value, behind the S, not projected */

    /* Masks as given (NULL: none) ... a bool that is 1 hides the key, a float is added. */
    const void *attn_mask;                /* (L,S), or (N*H,L,S) with item n and head h at n*H+h */
    const void *key_padding_mask;         /* (N,S) */
    uint32_t attn_mask_ndim;              /* 0, 2 or 3 */
    uint32_t attn_mask_dtype;             /* QKVEC_BOOL or dtype */
    uint32_t padding_dtype;               /* QKVEC_BOOL or dtype */
    uint32_t reserved;
    /* ... and both merged: numbers to add to the scaled scores. Never NULL. */
    const void *mask;                     /* (N,H,L,Sx) */

    /* The core: what the projections made. NULL for the layer. */
    const void *q_heads, *k_heads, *v_heads;      /* (N,H,L,D) (N,H,Sx,D) (N,H,Sx,D) */

    /* To fill. NULL: not asked for. */
    void *output;                         /* (N,L,E) */
    void *attn_weights;                   /* (N,H,L,Sx) */
    void *attn_weights_mean;              /* (N,L,Sx) */
    void *head_outputs;                   /* (N,H,L,D): before out_proj; what the core must give */
    uint32_t *written;
    char *reason;                         /* QKVEC_REASON bytes, for skip and error */
};

QKVEC_EXPORT int qkvec_kernel(const struct qkvec_call *call);
QKVEC_EXPORT int qkvec_attention_core(const struct qkvec_call *call);

#ifdef __cplusplus
}
#endif

#endif
