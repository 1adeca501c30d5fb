/* SPDX-License-Identifier: MIT */
/* A checkpoint by its path: one file, or the index of several. */
#include "checkpoint.h"

#include "../store/file.h"

const char *checkpoint_read(struct checkpoint *c, const char *path)
{
    unsigned char *bytes;
    size_t length;

    *c = (struct checkpoint){ 0 };
    const char *wrong = file_read(&bytes, &length, path, CHECKPOINT_BYTES, c->error);
    if (wrong)
        return wrong;
    if (!length || bytes[0] != '{')
        return checkpoint_read_memory(c, bytes, length);
    *c = (struct checkpoint){ .format = "index", .bytes = bytes, .length = length };
    return checkpoint_finish(c, index_read(c, path));
}
