/* SPDX-License-Identifier: MIT */
/* A kernel that is wrong in one element, and so not conformant. */
#define qkvec_kernel honest
#include "../kernels/examples/plain.c"
#undef qkvec_kernel

QKVEC_EXPORT int qkvec_kernel(const struct qkvec_call *a);

int qkvec_kernel(const struct qkvec_call *a)
{
    int status = honest(a);

    if (status == QKVEC_DONE && a->N * a->L * a->E > 0)
        ((float *)a->output)[0] += 1;
    return status;
}
