/* SPDX-License-Identifier: MIT */
#include "npz.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "grow.h"
#include "npy.h"
#include "zip.h"

/* ---- arrays ---- */

const struct npz_array *npz_get(const struct npz *z, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < z->count && n > 0 && n < NPZ_NAME; i++) {
        const char *its = z->arrays[i].name;    /* zeros behind it */
        if (its[n - 1] == name[n - 1] && !its[n] && memcmp(its, name, n) == 0)    /* mostly without a call */
            return &z->arrays[i];
    }
    return NULL;
}

void npz_free(struct npz *z)
{
    for (size_t i = 0; i < z->count; i++)
        free(z->arrays[i].data);
    free(z->arrays);
    z->arrays = NULL;
    z->count = z->room = 0;
}

/* Flat, printable and no path of any system: a name may become a file's name
 * in somebody's script. */
static const char *check_name(struct npz *z, const char *name, size_t length)
{
    char shown[SHOWN];

    if (length == 0)
        return say(z->error, SENTENCE, "a member without a name");
    if (length >= NPZ_NAME)
        return say(z->error, SENTENCE, "%s: a name of %zu bytes, wanted at most %d", show_name(shown, name, length), length, NPZ_NAME - 1);
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '/' || name[i] == '\\' || name[i] == ':')
            return say(z->error, SENTENCE, "%s: wanted a flat name of printable ASCII, without / \\ : or spaces", show_name(shown, name, length));
    return NULL;
}

/* Room for one more array of this name; it is counted by the caller once it has data. */
static struct npz_array *append(struct npz *z, const char *name, size_t length)
{
    if (check_name(z, name, length))
        return NULL;
    if (z->count == NPZ_MEMBERS) {
        say(z->error, SENTENCE, "more than %d members", NPZ_MEMBERS);
        return NULL;
    }
    struct npz_array *arrays = grow(z->arrays, &z->room, z->count, sizeof *arrays);
    if (!arrays) {
        say(z->error, SENTENCE, "not enough memory for %zu members", z->count + 1);
        return NULL;
    }
    z->arrays = arrays;
    struct npz_array *a = &z->arrays[z->count];
    *a = (struct npz_array){ 0 };
    memcpy(a->name, name, length);
    if (npz_get(z, a->name)) {
        say(z->error, SENTENCE, "%s: two members of this name", a->name);
        return NULL;
    }
    return a;
}

struct npz_array *npz_add(struct npz *z, const char *name, enum npz_type type, int ndim, const size_t *shape)
{
    struct npz_array *a = append(z, name, strlen(name));
    uint64_t product = 1;

    if (!a)
        return NULL;
    if (ndim < 0 || ndim > NPZ_DIMS) {
        say(z->error, SENTENCE, "%s: %d dimensions, wanted at most %d", a->name, ndim, NPZ_DIMS);
        return NULL;
    }
    a->type = type;
    a->ndim = ndim;
    a->size = 1;
    for (int k = 0; k < NPZ_DIMS; k++) {
        uint64_t x = a->shape[k] = k < ndim ? shape[k] : 1;
        if (x > NPZ_BYTES || (product *= x ? x : 1) * npz_type_size(type) > NPZ_BYTES) {
            say(z->error, SENTENCE, "%s: takes more than %zu bytes", a->name, NPZ_BYTES);
            return NULL;
        }
        a->size *= a->shape[k];
    }
    a->data = calloc(a->size ? a->size : 1, npz_type_size(type));
    if (!a->data) {
        say(z->error, SENTENCE, "%s: not enough memory for its %zu numbers", a->name, a->size);
        return NULL;
    }
    z->count++;
    return a;
}

const char *npz_copy(struct npz *copy, const struct npz *z, const char *const *without)
{
    *copy = (struct npz){ 0 };
    for (size_t k = 0; k < z->count; k++) {
        const struct npz_array *from = &z->arrays[k];
        size_t m = 0;
        while (without && without[m] && strcmp(without[m], from->name) != 0)
            m++;
        if (without && without[m])
            continue;
        struct npz_array *to = npz_add(copy, from->name, from->type, from->ndim, from->shape);
        if (!to) {
            npz_free(copy);
            return "not enough memory for a copy";
        }
        if (from->size)
            memcpy(to->data, from->data, from->size * npz_type_size(from->type));
    }
    return NULL;
}

/* ---- reading ---- */

static const char *read_member(struct npz *z, const struct zip_member *m, size_t *total)
{
    size_t n = m->name_length;
    unsigned char *bytes;
    const char *wrong;

    if (n > 0 && m->name[n - 1] == '/')
        return say(z->error, SENTENCE, "%s: a directory, wanted only members NAME.npy", m->shown);
    if (n < 4 || memcmp(m->name + n - 4, ".npy", 4))
        return say(z->error, SENTENCE, "%s: wanted only members NAME.npy", m->shown);
    struct npz_array *a = append(z, (const char *)m->name, n - 4);
    if (!a)
        return z->error;
    if (m->size > NPZ_BYTES - *total)
        return say(z->error, SENTENCE, "%s: with it the arrays take more than %zu bytes", a->name, NPZ_BYTES);
    *total += m->size;
    if ((wrong = zip_unpack(&bytes, m, z->error)) || (wrong = npy_take(a, bytes, m->size, z->error)))
        return wrong;
    z->count++;
    return NULL;
}

static const char *read_archive(struct npz *z, const void *bytes, size_t length, int proven)
{
    struct zip archive;
    struct zip_member m;
    size_t total = 0;
    int more = 1;

    *z = (struct npz){ 0 };
    const char *wrong = zip_open(&archive, bytes, length, z->error);
    archive.proven = proven;
    while (!wrong && !(wrong = zip_next(&m, &more, &archive)) && more)
        wrong = read_member(z, &m, &total);
    if (!wrong && z->count == 0)
        wrong = say(z->error, SENTENCE, "a ZIP archive without members");
    if (wrong)
        npz_free(z);
    return wrong;
}

const char *npz_read_memory(struct npz *z, const void *bytes, size_t length)
{
    return read_archive(z, bytes, length, 0);
}

const char *npz_read_proven(struct npz *z, const void *bytes, size_t length)
{
    return read_archive(z, bytes, length, 1);
}

const char *npz_read(struct npz *z, const char *path)
{
    unsigned char *bytes;
    size_t length;

    *z = (struct npz){ 0 };
    const char *wrong = file_read(&bytes, &length, path, NPZ_FILE_BYTES, z->error);
    if (!wrong)
        wrong = npz_read_memory(z, bytes, length);
    free(bytes);
    return wrong;
}

const char *npz_read_kept(struct npz *z, const void *bytes, size_t length, const char *path)
{
    return bytes ? npz_read_proven(z, bytes, length) : npz_read(z, path);
}

/* ---- writing ---- */

static const char *write_members(struct npz *z, struct zip_out *out)
{
    for (size_t i = 0; i < z->count; i++) {
        const struct npz_array *a = &z->arrays[i];
        char name[NPZ_NAME + 4];
        size_t length;
        unsigned char *bytes = npy_make(&length, a);
        const char *wrong = bytes ? NULL : "not enough memory to write it";

        snprintf(name, sizeof name, "%s.npy", a->name);
        if (!wrong)
            wrong = zip_put(out, name, bytes, length);
        free(bytes);
        if (wrong)
            return say(z->error, SENTENCE, "%s: %s", a->name, wrong);
        if (out->offset > NPZ_FILE_BYTES)
            return say(z->error, SENTENCE, "%s: with it the file has more than %zu bytes", a->name, NPZ_FILE_BYTES);
    }
    zip_finish(out);
    return NULL;
}

const char *npz_write(struct npz *z, const char *path)
{
    struct file_out file;
    size_t total = 0;
    const char *wrong;

    if (z->count == 0)
        return say(z->error, SENTENCE, "no arrays to write");
    for (size_t i = 0; i < z->count; i++) {
        size_t bytes = z->arrays[i].size * npz_type_size(z->arrays[i].type) + 512;
        if (bytes > NPZ_BYTES - total)
            return say(z->error, SENTENCE, "%s: with it the arrays take more than %zu bytes", z->arrays[i].name, NPZ_BYTES);
        total += bytes;
    }
    if ((wrong = file_create(&file, path, z->error)))
        return wrong;
    struct zip_out out = { .stream = file.stream };
    wrong = write_members(z, &out);
    free(out.directory);
    if (wrong) {
        char ignored[SENTENCE];
        file_close(&file, 0, ignored);
        return wrong;
    }
    return file_close(&file, 1, z->error);
}
