/* SPDX-License-Identifier: MIT */
/* One tensor of a checkpoint: its shape, and its numbers. */
#include <stdlib.h>
#include <string.h>

#include "../store/bytes.h"
#include "checkpoint.h"

/* ---- tensors ---- */

size_t tensor_item(enum tensor_type type)
{
    return type == TENSOR_F64 ? 8 : type == TENSOR_F32 ? 4 : type == TENSOR_OTHER ? 0 : 2;
}

const char *tensor_type_name(const struct tensor *t)
{
    static const char *const names[] = { "float16", "bfloat16", "float32", "float64" };

    return t->type == TENSOR_OTHER ? t->type_name : names[t->type];
}

const char *tensor_shape_text(char text[192], const struct tensor *t)
{
    return shape_text(text, 192, t->ndim, t->shape);
}

void tensor_contiguous(struct tensor *t)
{
    size_t step = 1;

    for (int k = t->ndim; k--; step *= t->shape[k])
        t->stride[k] = step;
}

const char *tensor_check(const struct tensor *t, char error[SENTENCE])
{
    uint64_t last = t->offset, count = 1;
    char shown[SHOWN], shape[192];
    int empty = 0;

    show_name(shown, t->name, strlen(t->name));
    tensor_shape_text(shape, t);
    for (int k = 0; k < t->ndim; k++) {
        empty |= t->shape[k] == 0;
        if (t->shape[k] && count > (UINT64_C(1) << 48) / t->shape[k])
            return say(error, SENTENCE, "%s: shape %.100s multiplies to more than 2^48", shown, shape);
        count *= t->shape[k] ? t->shape[k] : 1;
    }
    if (empty)
        return NULL;
    for (int k = 0; k < t->ndim; k++) {
        uint64_t steps = t->shape[k] - 1;
        if (steps && t->stride[k] > (t->elements > last ? (t->elements - last) / steps : 0))
            return say(error, SENTENCE, "%s: shape %.80s with stride %zu in dimension %d leaves its storage of %zu elements",
                       shown, shape, t->stride[k], k, t->elements);
        last += steps * t->stride[k];
    }
    if (last >= t->elements)
        return say(error, SENTENCE, "%s: shape %.100s from element %zu on leaves its storage of %zu elements", shown, shape, t->offset, t->elements);
    return NULL;
}

/* ---- numbers ---- */

/* One element from where it lies to an array's element of the same bits. */
static void move(void *to, const unsigned char *from, enum tensor_type type)
{
    uint16_t half = get16(from);
    uint32_t single = type == TENSOR_BF16 ? (uint32_t)half << 16 : type == TENSOR_F32 ? get32(from) : 0;

    if (type == TENSOR_F64) {
        uint64_t x = get64(from);
        memcpy(to, &x, 8);
    } else if (type == TENSOR_F16)
        memcpy(to, &half, 2);
    else
        memcpy(to, &single, 4);
}

/* The elements of a strided view, one after the other. */
static void gather(struct npz_array *a, const struct tensor *t, const unsigned char *data)
{
    size_t index[TENSOR_DIMS] = { 0 }, item = tensor_item(t->type), width = npz_type_size(a->type);

    for (size_t i = 0; i < a->size; i++) {
        size_t at = t->offset;
        for (int k = 0; k < t->ndim; k++)
            at += index[k] * t->stride[k];
        move((unsigned char *)a->data + i * width, data + at * item, t->type);
        for (int k = t->ndim; k-- && ++index[k] == t->shape[k]; )
            index[k] = 0;
    }
}

const char *checkpoint_take(struct npz *z, const char *name, const struct tensor *t, char error[SENTENCE])
{
    static const enum npz_type types[] = { NPZ_F2, NPZ_F4, NPZ_F4, NPZ_F8 };
    unsigned char *unpacked = NULL;
    char shown[SHOWN], shape[192];
    const char *wrong = NULL;
    size_t count = 1;

    show_name(shown, t->name, strlen(t->name));
    tensor_shape_text(shape, t);
    if (t->type == TENSOR_OTHER)
        return say(error, SENTENCE, "%s: found %s, wanted float16, bfloat16, float32 or float64", shown, t->type_name);
    if (t->ndim > NPZ_DIMS)
        return say(error, SENTENCE, "%s: found shape %.120s, wanted at most %d dimensions", shown, shape, NPZ_DIMS);
    for (int k = 0; k < t->ndim; k++)
        count *= t->shape[k];    /* tensor_check has seen that this fits */
    if (count > t->elements && count > TENSOR_REPEATED)
        return say(error, SENTENCE, "%s: shape %.80s repeats the %zu elements of its storage, wanted at most %zu numbers that way",
                   shown, shape, t->elements, TENSOR_REPEATED);
    struct npz_array *a = npz_add(z, name, types[t->type], t->ndim, t->shape);
    if (!a)
        return say(error, SENTENCE, "%s", z->error);
    if (!a->size)
        return NULL;
    if (t->unpacked)
        memcpy(a->data, t->unpacked, a->size * npz_type_size(a->type));
    else if (t->data || !(wrong = zip_unpack(&unpacked, &t->packed, error)))
        gather(a, t, t->data ? t->data : unpacked);
    free(unpacked);
    return wrong;
}
