/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of torch.save(): read or refused, and every attention
 * layer in it taken apart. */
#include "checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_checkpoint(data, size);
}
