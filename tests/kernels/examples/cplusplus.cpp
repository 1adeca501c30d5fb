// SPDX-License-Identifier: MIT
// Attention without the projections in C++, float32 and float64:  c++ -O2 -shared -fPIC cplusplus.cpp -o libcplusplus.so
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <qkvec/kernel.h>

template <typename T> static int core(const qkvec_call &a)
{
    const int64_t L = a.L, S = a.Sx, D = a.E / a.H;
    const auto *q = static_cast<const T *>(a.q_heads), *k = static_cast<const T *>(a.k_heads);
    const auto *v = static_cast<const T *>(a.v_heads), *mask = static_cast<const T *>(a.mask);
    auto *p = static_cast<T *>(a.attn_weights), *o = static_cast<T *>(a.head_outputs);
    for (int64_t row = 0; row < a.N * a.H * L; row++, q += D, mask += S, p += S, o += D) {
        const T *keys = k + row / L * S * D, *values = v + row / L * S * D;
        for (int64_t j = 0; j < S; j++)
            p[j] = std::inner_product(q, q + D, keys + j * D, T(0)) / std::sqrt(T(D)) + mask[j];
        const T top = std::accumulate(p, p + S, -std::numeric_limits<T>::infinity(), [](T x, T y) { return std::max(x, y); });
        std::transform(p, p + S, p, [top](T s) { return std::exp(s - top); });
        const T sum = std::accumulate(p, p + S, T(0));
        std::transform(p, p + S, p, [sum](T e) { return e / sum; });
        std::fill(o, o + D, T(0));
        for (int64_t j = 0; j < S; j++)
            for (int64_t d = 0; d < D; d++)
                o[d] += p[j] * values[j * D + d];
    }
    *a.written = QKVEC_HEAD_OUTPUTS | QKVEC_ATTN_WEIGHTS;
    return QKVEC_DONE;
}

extern "C" int qkvec_attention_core(const qkvec_call *a)
{
    return a->dtype == QKVEC_FLOAT32 ? core<float>(*a) : a->dtype == QKVEC_FLOAT64 ? core<double>(*a) : QKVEC_SKIP;
}
