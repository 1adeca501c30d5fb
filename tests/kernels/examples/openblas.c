/* SPDX-License-Identifier: MIT */
/* Attention without the projections on a BLAS, float32:  cc -O2 -shared -fPIC openblas.c -lopenblas -lm -o libopenblas_core.so */
#include <cblas.h>
#include <math.h>
#include <qkvec/kernel.h>

int qkvec_attention_core(const struct qkvec_call *a)
{
    int L = (int)a->L, S = (int)a->Sx, D = (int)(a->E / a->H);
    if (a->dtype != QKVEC_FLOAT32) return QKVEC_SKIP;
    for (int64_t head = 0; head < a->N * a->H; head++) {
        const float *q = (const float *)a->q_heads + head * L * D, *k = (const float *)a->k_heads + head * S * D;
        const float *v = (const float *)a->v_heads + head * S * D, *mask = (const float *)a->mask + head * L * S;
        float *p = (float *)a->attn_weights + head * L * S, *o = (float *)a->head_outputs + head * L * D;
        if (L && S)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, L, S, D, 1 / sqrtf((float)D), q, D, k, D, 0, p, S);
        for (int i = 0; i < L; i++, p += S, mask += S) {
            float top = -INFINITY, sum = 0;
            for (int j = 0; j < S; j++) if ((p[j] += mask[j]) > top) top = p[j];
            for (int j = 0; j < S; j++) sum += p[j] = expf(p[j] - top);
            for (int j = 0; j < S; j++) p[j] /= sum;
        }
        for (int m = 0; m < L * D; m++) o[m] = 0;
        if (L && S)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, L, D, S, 1, p - (int64_t)L * S, S, v, D, 0, o, D);
    }
    *a->written = QKVEC_HEAD_OUTPUTS | QKVEC_ATTN_WEIGHTS;
    return QKVEC_DONE;
}
