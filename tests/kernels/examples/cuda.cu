// SPDX-License-Identifier: MIT
// Attention without the projections in CUDA, float32:  nvcc -O2 -shared -Xcompiler -fPIC cuda.cu -o libcuda_core.so
#include <cstdio>
#include <cuda_runtime.h>
#include <math_constants.h>
#include <qkvec/kernel.h>

// One thread for each query row; p (rows,S) holds its scores, then its weights.
__global__ static void attend(float *o, float *p, const float *q, const float *k, const float *v, const float *mask, int64_t rows, int64_t L, int64_t S, int64_t D)
{
    int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    q += row * D, o += row * D, p += row * S, mask += row * S, k += row / L * S * D, v += row / L * S * D;
    float top = -CUDART_INF_F, sum = 0;
    for (int64_t j = 0; j < S; j++) {
        float s = 0;
        for (int64_t d = 0; d < D; d++) s += q[d] * k[j * D + d];
        p[j] = s / sqrtf((float)D) + mask[j];
        if (p[j] > top) top = p[j];
    }
    for (int64_t j = 0; j < S; j++) sum += p[j] = expf(p[j] - top);
    for (int64_t d = 0; d < D; d++) o[d] = 0;
    for (int64_t j = 0; j < S; j++) {
        p[j] /= sum;
        for (int64_t d = 0; d < D; d++) o[d] += p[j] * v[j * D + d];
    }
}

extern "C" int qkvec_attention_core(const qkvec_call *a)
{
    int64_t rows = a->N * a->H * a->L, S = a->Sx, D = a->E / a->H, keys = a->N * a->H * S * D;
    size_t bytes[] = { rows * D * sizeof(float), keys * sizeof(float), keys * sizeof(float), rows * S * sizeof(float), rows * S * sizeof(float), rows * D * sizeof(float) };
    const void *from[] = { a->q_heads, a->k_heads, a->v_heads, a->mask };
    void *at[6] = {};
    cudaError_t error = cudaSuccess;
    if (a->dtype != QKVEC_FLOAT32) return QKVEC_SKIP;
    for (int i = 0; i < 6 && !error; i++) error = cudaMalloc(&at[i], bytes[i] + 1);
    for (int i = 0; i < 4 && !error; i++) error = cudaMemcpy(at[i], from[i], bytes[i], cudaMemcpyHostToDevice);
    if (!error && rows) attend<<<(unsigned)((rows + 63) / 64), 64>>>((float *)at[5], (float *)at[4], (float *)at[0], (float *)at[1], (float *)at[2], (float *)at[3], rows, a->L, S, D);
    if (!error) error = cudaGetLastError();
    if (!error) error = cudaMemcpy(a->attn_weights, at[4], bytes[4], cudaMemcpyDeviceToHost);
    if (!error) error = cudaMemcpy(a->head_outputs, at[5], bytes[5], cudaMemcpyDeviceToHost);
    for (void *p : at) cudaFree(p);
    *a->written = QKVEC_HEAD_OUTPUTS | QKVEC_ATTN_WEIGHTS;
    if (!error) return QKVEC_DONE;
    snprintf(a->reason, QKVEC_REASON, "%s", cudaGetErrorString(error));
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? QKVEC_SKIP : -(int)error;
}
