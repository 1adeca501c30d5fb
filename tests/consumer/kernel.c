/* SPDX-License-Identifier: MIT */
/* Somebody's layer, for what has neither masks nor appended rows. */
#include <math.h>
#include <stdlib.h>

#include <qkvec/kernel.h>

static void project(float *y, const float *x, const float *w, const float *b, int64_t rows, int64_t in, int64_t out)
{
    int64_t r, o, i;

    for (r = 0; r < rows; r++)
        for (o = 0; o < out; o++) {
            double sum = b ? b[o] : 0;
            for (i = 0; i < in; i++)
                sum += (double)x[r * in + i] * w[o * in + i];
            y[r * out + o] = (float)sum;
        }
}

/* One query row of one head. */
static void attend(float *y, const float *q, const float *k, const float *v, float *p, int64_t S, int64_t E, int64_t D)
{
    float largest = -INFINITY, total = 0;
    int64_t j, d;

    for (j = 0; j < S; j++) {
        p[j] = 0;
        for (d = 0; d < D; d++)
            p[j] += q[d] * k[j * E + d];
        p[j] /= sqrtf((float)D);
        largest = fmaxf(largest, p[j]);
    }
    for (j = 0; j < S; j++)
        total += p[j] = expf(p[j] - largest);
    for (d = 0; d < D; d++)
        y[d] = 0;
    for (j = 0; j < S; j++)
        for (d = 0; d < D; d++)
            y[d] += p[j] / total * v[j * E + d];
}

int qkvec_kernel(const struct qkvec_call *c)
{
    int64_t N = c->N, L = c->L, S = c->S, E = c->E, H = c->H, D = E / H, n, h, i;
    const float *b = c->in_proj_bias;
    float *q, *k, *v, *y, *p;

    if (c->dtype != QKVEC_FLOAT32 || c->attn_mask || c->key_padding_mask || c->Sx != S || !S)
        return QKVEC_SKIP;
    q = malloc(sizeof *q * (size_t)(2 * N * L * E + 2 * N * S * E + S));
    if (!q)
        return -1;
    y = q + N * L * E, k = y + N * L * E, v = k + N * S * E, p = v + N * S * E;
    project(q, c->query, c->q_weight, b, N * L, E, E);
    project(k, c->key, c->k_weight, b ? b + E : 0, N * S, c->Ek, E);
    project(v, c->value, c->v_weight, b ? b + 2 * E : 0, N * S, c->Ev, E);
    for (n = 0; n < N; n++)
        for (h = 0; h < H; h++)
            for (i = 0; i < L; i++)
                attend(y + (n * L + i) * E + h * D, q + (n * L + i) * E + h * D, k + n * S * E + h * D, v + n * S * E + h * D,
                       p, S, E, D);
    project(c->output, y, c->out_weight, c->out_bias, N * L, E, E);
    *c->written = QKVEC_OUTPUT;
    free(q);
    return QKVEC_DONE;
}
