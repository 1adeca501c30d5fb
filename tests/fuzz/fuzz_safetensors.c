/* SPDX-License-Identifier: MIT */
/* Any bytes as a .safetensors file. The eight bytes of length are put in front,
 * and the bytes after the first newline are the numbers: so a mutation of the
 * header stays a header. */
#include <stdlib.h>
#include <string.h>

#include "../../ref/store/bytes.h"
#include "checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    size_t header = line ? (size_t)(line - data) : size, numbers = line ? size - header - 1 : 0;
    uint8_t *file = malloc(8 + header + numbers);

    if (!file)
        return 0;
    put64(file, header);
    if (header)
        memcpy(file + 8, data, header);
    if (numbers)
        memcpy(file + 8 + header, line + 1, numbers);
    fuzz_checkpoint(file, 8 + header + numbers);
    free(file);
    return fuzz_checkpoint(data, size);    /* and as they are */
}
