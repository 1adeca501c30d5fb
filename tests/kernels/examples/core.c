/* SPDX-License-Identifier: MIT */
/* Attention without the projections, float32:  cc -O2 -shared -fPIC core.c -lm -o libcore.so */
#include <math.h>
#include <qkvec/kernel.h>

int qkvec_attention_core(const struct qkvec_call *a)
{
    int64_t rows = a->N * a->H, L = a->L, S = a->Sx, D = a->E / a->H;
    if (a->dtype != QKVEC_FLOAT32) return QKVEC_SKIP;
    for (int64_t r = 0; r < rows; r++) for (int64_t i = 0; i < L; i++) {
        const float *q = (const float *)a->q_heads + (r * L + i) * D, *mask = (const float *)a->mask + (r * L + i) * S;
        const float *k = (const float *)a->k_heads + r * S * D, *v = (const float *)a->v_heads + r * S * D;
        float *p = (float *)a->attn_weights + (r * L + i) * S, *o = (float *)a->head_outputs + (r * L + i) * D;
        float top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < S; j++) {
            float s = 0;
            for (int64_t d = 0; d < D; d++) s += q[d] * k[j * D + d];
            p[j] = s / sqrtf((float)D) + mask[j];
            if (p[j] > top) top = p[j];
        }
        for (int64_t j = 0; j < S; j++) sum += p[j] = expf(p[j] - top);
        for (int64_t j = 0; j < S; j++) p[j] /= sum;
        for (int64_t d = 0; d < D; d++) o[d] = 0;
        for (int64_t j = 0; j < S; j++)
            for (int64_t d = 0; d < D; d++) o[d] += p[j] * v[j * D + d];
    }
    *a->written = QKVEC_HEAD_OUTPUTS | QKVEC_ATTN_WEIGHTS;
    return QKVEC_DONE;
}
