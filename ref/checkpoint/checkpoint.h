/* SPDX-License-Identifier: MIT */
/*
 * Named tensors in a file of trained weights: torch.save() (the ZIP format and
 * the one before it), .safetensors, .npz, or the .index.json of several such
 * files. The contents decide which it is, not the name. A file is untrusted,
 * and nothing in it is executed.
 */
#ifndef QKVEC_CHECKPOINT_H
#define QKVEC_CHECKPOINT_H

#include "../store/npz.h"
#include "../store/zip.h"

#define CHECKPOINT_BYTES ((size_t)1 << (sizeof(size_t) > 4 ? 36 : 30))    /* of a file */
#define CHECKPOINT_TENSORS ((size_t)1 << 17)
#define CHECKPOINT_NAME 512
#define TENSOR_DIMS 8
#define TENSOR_REPEATED ((size_t)1 << 22)    /* elements that a stride of 0 may make out of fewer */

enum tensor_type { TENSOR_F16, TENSOR_BF16, TENSOR_F32, TENSOR_F64, TENSOR_OTHER };

struct tensor {
    char *name;                     /* the keys of nested dicts, joined by "." */
    enum tensor_type type;
    char type_name[24];             /* as the file spells it: "HalfStorage", "BF16", "<f4" */
    int ndim;
    size_t shape[TENSOR_DIMS];
    size_t stride[TENSOR_DIMS];     /* in elements */
    size_t offset;                  /* of its first element in the storage, in elements */
    size_t elements;                /* of the storage, which other tensors may share */
    const unsigned char *data;      /* the storage, little endian; NULL where one of these two holds it: */
    struct zip_member packed;       /* a member of the archive */
    void *unpacked;                 /* numbers in this machine's byte order, to free */
};

#define CHECKPOINT_SKIPPED 6        /* objects beside the tensors that a checkpoint names */
#define CHECKPOINT_SHARDS 1024      /* files of an index */

struct checkpoint {
    const char *format;             /* "torch.save", "safetensors", "npz", "index" */
    struct tensor *tensors;         /* in the order of the file */
    const struct tensor **sorted;   /* the same by name */
    size_t count, room;
    unsigned char *bytes;           /* the file */
    size_t length;
    unsigned char **shard;          /* the bytes of the files of an index; the tensors point into them */
    size_t shard_count;
    char skipped[CHECKPOINT_SKIPPED][SHOWN];    /* "args (argparse.Namespace)": objects that are not tensors, and not read */
    size_t skipped_count;           /* all of them, also beyond CHECKPOINT_SKIPPED */
    char error[SENTENCE];
};

/* Read a file, or the files that an .index.json names. Returns NULL, or an error
 * message (c->error; c is then empty). Afterwards shapes, strides and offsets of
 * all tensors lie within what the file holds. */
const char *checkpoint_read(struct checkpoint *c, const char *path);

/* Read bytes in memory, which c owns from now on (and frees by free). An index
 * is refused: it needs a folder. */
const char *checkpoint_read_memory(struct checkpoint *c, unsigned char *bytes, size_t length);

/* Return the tensor named PREFIX and NAME, or NULL. */
const struct tensor *checkpoint_get(const struct checkpoint *c, const char *prefix, size_t prefix_length, const char *name);

/* Add a tensor's numbers to z under a name, in C order: <f2, <f4 (bfloat16 is
 * widened to it, which is exact) or <f8. Returns NULL or an error message. */
const char *checkpoint_take(struct npz *z, const char *name, const struct tensor *t, char error[SENTENCE]);

/* "float16", "bfloat16", "float32", "float64", or as the file spells it. */
const char *tensor_type_name(const struct tensor *t);

/* "(3, 4)". Returns text. */
const char *tensor_shape_text(char text[192], const struct tensor *t);

void checkpoint_free(struct checkpoint *c);

/* ---- for the readers ---- */

/* Add a tensor of this name, to be filled in. Returns NULL after an error
 * message in c->error. Valid until the next one. */
struct tensor *checkpoint_add(struct checkpoint *c, const char *name, size_t length);

/* Set the strides of the shape in C order. */
void tensor_contiguous(struct tensor *t);

/* Check that no dimension, offset or stride leads out of the storage, and no
 * product of them overflows. Returns NULL or an error message. */
const char *tensor_check(const struct tensor *t, char error[SENTENCE]);

/* Return the bytes of an element; 0 for TENSOR_OTHER. */
size_t tensor_item(enum tensor_type type);

/* Name an object that is not read. */
void checkpoint_skip(struct checkpoint *c, const char *path, size_t length, const char *type);

/* Return an error message that names the format of bytes that are not read, and
 * the line that converts them; NULL if they are of no such format. */
const char *format_refuse(const unsigned char *bytes, size_t length, char error[SENTENCE]);

/* Check every tensor and sort them, unless wrong. Returns wrong, NULL or an error
 * message; c is freed if it is not NULL. */
const char *checkpoint_finish(struct checkpoint *c, const char *wrong);

/* Sort by name. Returns NULL, or an error message if two have one name. */
const char *checkpoint_sort(struct checkpoint *c);

/* Read the files that c->bytes, an .index.json of the folder of path, names. */
const char *index_read(struct checkpoint *c, const char *path);

const char *torch_zip_read(struct checkpoint *c);
const char *torch_legacy_read(struct checkpoint *c);
const char *safetensors_read(struct checkpoint *c);

#endif
