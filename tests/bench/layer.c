/* SPDX-License-Identifier: MIT */
/* The recipe against nn.MultiheadAttention and against its own envelope. */
#include <math.h>
#include <stdio.h>

#include "../../ref/envelope/envelope.h"
#include "bench.h"

struct layer {
    struct vector v;
    struct array t[STAGES], sigma[STAGES];
};

static void forward(void *context)
{
    struct layer *l = context;

    mha_forward(l->t, &l->v.in);
}

static void walk(void *context)
{
    struct layer *l = context;

    envelope(l->sigma, l->t, &l->v.in, &profiles[PROFILE_FLOAT32], SCOPE_LAYER);
}

/* Seconds of torch on the same numbers; NaN where that cannot be had. */
static double torch_time(struct bench *b, struct layer *l, double *distance)
{
    char script[1024], file[1024], printed[1024];
    const char *argv[] = { b->python, script, file, b->quick ? "1" : "0", NULL };
    double seconds = NAN;

    snprintf(script, sizeof script, "%s/tests/bench/layer.py", b->source);
    snprintf(file, sizeof file, "%s/case.npz", b->work);
    snprintf(printed, sizeof printed, "%s/layer.txt", b->work);
    if ((!npz_get(&l->v.file, "output") && vector_put_stages(&l->v.file, "", l->t)) || npz_write(&l->v.file, file) || run_program(argv, printed).status)
        return NAN;
    FILE *f = fopen(printed, "r");
    if (f && fscanf(f, "%lf %lf", &seconds, distance) != 2)
        seconds = NAN;
    if (f)
        fclose(f);
    return seconds;
}

static void one(struct bench *b, size_t N, size_t L, size_t E, size_t H, int faster, double goal)
{
    enum { ROUNDS = 5 };
    struct layer l;
    char what[160];
    double distance = 0, own[ROUNDS], walked[ROUNDS], of_torch[ROUNDS];
    size_t rounds = b->quick ? 1 : ROUNDS;

    if (make_case(&l.v, N, L, L, E, H) || mha_alloc(l.t, &l.v.in) || mha_alloc(l.sigma, &l.v.in)) {
        b->failed++;
        return;
    }
    for (size_t r = 0; r < rounds; r++) {
        own[r] = time_of(forward, &l, b->quick);
        walked[r] = time_of(walk, &l, b->quick);
        of_torch[r] = b->has_torch ? torch_time(b, &l, &distance) : NAN;
    }
    double seconds = median(own, rounds), second = median(walked, rounds), torch = median(of_torch, rounds);
    snprintf(what, sizeof what, "the reference against nn.MultiheadAttention, N=%zu L=%zu E=%zu H=%zu", N, L, E, H);
    if (!b->has_torch)
        row_skipped(b, what, "torch cannot be imported");
    else if (!(distance < 1e-12)) {
        fprintf(stderr, "bench: torch computes another output, %g away\n", distance);
        b->failed++;
    } else if (faster)
        row(b, what, torch / seconds, AT_LEAST, goal, "times as fast");
    else
        row(b, what, seconds / torch, AT_MOST, goal, "times its time");
    snprintf(what, sizeof what, "the envelope against the reference, N=%zu L=%zu E=%zu H=%zu", N, L, E, H);
    row(b, what, second / seconds, AT_MOST, 4, "times its time");
    mha_free(l.t);
    mha_free(l.sigma);
    vector_free(&l.v);
}

void bench_layer(struct bench *b)
{
    one(b, 2, 4, 24, 3, 1, 10);
    one(b, 1, b->quick ? 16 : 128, b->quick ? 96 : 768, 12, 0, 4);
}
