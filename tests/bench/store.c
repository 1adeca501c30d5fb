/* SPDX-License-Identifier: MIT */
/* Sizes against numpy.savez_compressed, reading against zlib alone. */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "../../ref/corpus/corpus.h"
#include "../../ref/store/file.h"
#include "../../ref/store/zip.h"
#include "bench.h"

#define LARGEST ((size_t)64 << 20)

struct files {
    struct choice choice;
    unsigned char **bytes;
    size_t *length;
    unsigned char *room;      /* for what zlib makes of a member */
    size_t packed;            /* of all files */
    int failed;
};

static void read_all(void *context)
{
    struct files *files = context;

    for (size_t k = 0; k < files->choice.count; k++) {
        struct npz z;
        files->failed |= npz_read_memory(&z, files->bytes[k], files->length[k]) != NULL;
        npz_free(&z);
    }
}

/* What zlib needs for the same: a stream for each member, one call, no checksum. */
static void inflate_all(void *context)
{
    struct files *files = context;
    char error[SENTENCE];

    for (size_t k = 0; k < files->choice.count; k++) {
        struct zip zip;
        struct zip_member m;
        int more = 1;
        zip_open(&zip, files->bytes[k], files->length[k], error);
        while (!zip_next(&m, &more, &zip) && more) {
            z_stream s = { 0 };
            if (m.method != 8 || m.size > LARGEST || inflateInit2(&s, -MAX_WBITS) != Z_OK)
                continue;
            s.next_in = (z_const unsigned char *)m.data;
            s.avail_in = (uInt)m.packed;
            s.next_out = files->room;
            s.avail_out = (uInt)m.size;
            files->failed |= inflate(&s, Z_FINISH) != Z_STREAM_END;
            inflateEnd(&s);
        }
    }
}

static int load(struct files *files, struct corpus *corpus)
{
    char error[SENTENCE];

    if (corpus_choose(&files->choice, corpus, 0, NULL))
        return 0;
    files->bytes = calloc(files->choice.count, sizeof *files->bytes);
    files->length = calloc(files->choice.count, sizeof *files->length);
    files->room = malloc(LARGEST);
    if (!files->bytes || !files->length || !files->room)
        return 0;
    for (size_t k = 0; k < files->choice.count; k++) {
        if (file_read(&files->bytes[k], &files->length[k], files->choice.chosen[k].path, LARGEST, error))
            return 0;
        files->packed += files->length[k];
    }
    return 1;
}

/* Bytes of all files, written once more by qkvec and by numpy. */
static void sizes(struct bench *b, const struct files *files)
{
    char script[1024], vectors[1024], file[1024], printed[1024], error[SENTENCE];
    const char *argv[] = { b->python, script, vectors, NULL };
    double numpy = 0, own = 0;

    snprintf(file, sizeof file, "%s/copy.npz", b->work);
    for (size_t k = 0; k < files->choice.count; k++) {
        struct npz z;
        unsigned char *bytes;
        size_t length;
        if (npz_read_memory(&z, files->bytes[k], files->length[k]) || npz_write(&z, file) || file_read(&bytes, &length, file, LARGEST, error)) {
            b->failed++;
            return;
        }
        own += (double)length;
        free(bytes);
        npz_free(&z);
    }
    if (!b->has_numpy) {
        row_skipped(b, "bytes of all vectors, against numpy.savez_compressed", "numpy cannot be imported");
        return;
    }
    snprintf(script, sizeof script, "%s/tests/bench/savez.py", b->source);
    snprintf(vectors, sizeof vectors, "%s/vectors", b->source);
    snprintf(printed, sizeof printed, "%s/savez.txt", b->work);
    run_program(argv, printed);
    FILE *f = fopen(printed, "r");
    if (!f || fscanf(f, "%lf", &numpy) != 1)
        b->failed++;
    else {
        row(b, "bytes of all vectors as published, against numpy.savez_compressed", (double)files->packed / numpy, AT_MOST, 1, "of its bytes");
        row(b, "bytes of all vectors as qkvec writes them, against numpy.savez_compressed", own / numpy, AT_MOST, 1, "of its bytes");
    }
    if (f)
        fclose(f);
}

void bench_store(struct bench *b)
{
    struct files files = { 0 };
    struct corpus corpus;
    char vectors[1024];

    snprintf(vectors, sizeof vectors, "%s/vectors", b->source);
    if (corpus_open(&corpus, vectors) || !load(&files, &corpus)) {
        fprintf(stderr, "bench: the vectors cannot be read\n");
        b->failed++;
        return;
    }
    sizes(b, &files);
    enum { ROUNDS = 5 };
    double own[ROUNDS], zlib[ROUNDS];
    size_t rounds = b->quick ? 1 : ROUNDS;
    for (size_t r = 0; r < rounds; r++) {
        own[r] = time_of(read_all, &files, b->quick);
        zlib[r] = time_of(inflate_all, &files, b->quick);
    }
    if (files.failed)
        b->failed++;
    row(b, "reading all vectors, against zlib inflating the same bytes", median(zlib, rounds) / median(own, rounds), AT_LEAST, 0.8, "of its speed");
    for (size_t k = 0; k < files.choice.count; k++)
        free(files.bytes[k]);
    free(files.bytes);
    free(files.length);
    free(files.room);
    choice_free(&files.choice);
    corpus_close(&corpus);
}
