/* SPDX-License-Identifier: MIT */
/* A whole layer in plain C, float32:  cc -O2 -shared -fPIC plain.c -lm -o libplain.so */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <qkvec/kernel.h>

/* y (T,E) = x (T,C) w^T + b */
static void linear(float *y, const float *x, const float *w, const float *b, int64_t T, int64_t C, int64_t E)
{
    for (int64_t t = 0; t < T; t++) for (int64_t e = 0; e < E; e++) {
        float sum = 0;
        for (int64_t c = 0; c < C; c++) sum += x[t * C + c] * w[e * C + c];
        y[t * E + e] = sum + (b ? b[e] : 0);
    }
}

int qkvec_kernel(const struct qkvec_call *a)
{
    int64_t N = a->N, L = a->L, S = a->S, E = a->E, H = a->H, D = E / H;
    if (a->dtype != QKVEC_FLOAT32 || a->bias_k || a->flags & QKVEC_ZERO_ATTN) {
        snprintf(a->reason, QKVEC_REASON, "float32 without bias_kv and zero_attn only");
        return QKVEC_SKIP;
    }
    float *q = calloc((size_t)(2 * N * (L + S) * E + 1), sizeof *q), *k = q + N * L * E, *v = k + N * S * E, *o = v + N * S * E;
    const float *b = a->in_proj_bias, *mask = a->mask;
    linear(q, a->query, a->q_weight, b, N * L, E, E);
    linear(k, a->key, a->k_weight, b ? b + E : NULL, N * S, a->Ek, E);
    linear(v, a->value, a->v_weight, b ? b + 2 * E : NULL, N * S, a->Ev, E);
    for (int64_t n = 0; n < N; n++) for (int64_t h = 0; h < H; h++) for (int64_t i = 0; i < L; i++) {
        float *p = (float *)a->attn_weights + ((n * H + h) * L + i) * S, top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < S; j++) {
            float s = 0;
            for (int64_t d = h * D; d < h * D + D; d++) s += q[(n * L + i) * E + d] * k[(n * S + j) * E + d];
            p[j] = s / sqrtf((float)D) + mask[((n * H + h) * L + i) * S + j];
            if (p[j] > top) top = p[j];
        }
        for (int64_t j = 0; j < S; j++) sum += p[j] = expf(p[j] - top);
        for (int64_t j = 0; j < S; j++) p[j] /= sum;
        for (int64_t j = 0; j < S; j++)
            for (int64_t d = h * D; d < h * D + D; d++) o[(n * L + i) * E + d] += p[j] * v[(n * S + j) * E + d];
    }
    linear(a->output, o, a->out_weight, a->out_bias, N * L, E, E);
    *a->written = QKVEC_OUTPUT | QKVEC_ATTN_WEIGHTS;
    free(q);
    return QKVEC_DONE;
}
