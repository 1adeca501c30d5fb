/* SPDX-License-Identifier: MIT */
/*
 * What a kernel left behind. Letters: k output, m element of a whole array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

static const enum mha_stage stage_of[CALL_OUTPUTS] = { OUTPUT, ATTN_WEIGHTS, ATTN_WEIGHTS_MEAN, HEAD_OUTPUTS };

/* A pattern per type and pass: signalling NaN. Arithmetic on one sets the
 * quiet bit, so that a kernel which adds to what it finds is told apart. */
struct pattern { unsigned char bytes[8]; size_t quiet_byte, same_byte; unsigned char quiet_bit; };

static struct pattern pattern_of(uint32_t dtype, int pass)
{
    static const uint64_t f64[2] = { 0x7FF1A5C3A5C3A5C3, 0xFFF25A3C5A3C5A3C };
    static const uint32_t f32[2] = { 0x7F91A5C3, 0xFFA25A3C };
    static const uint16_t f16[2] = { 0x7C5A, 0xFDA3 }, bf16[2] = { 0x7F95, 0xFFAA };
    struct pattern p = { { 0 }, 0, 0, 0 }, one = { { 0 }, 0, 0, 0 };
    uint64_t quiet = 0;
    size_t bytes = call_number_bytes(dtype);

    switch (dtype) {
    case QKVEC_FLOAT64:  memcpy(p.bytes, &f64[pass], 8); quiet = UINT64_C(1) << 51; memcpy(one.bytes, &quiet, 8); break;
    case QKVEC_FLOAT16:  memcpy(p.bytes, &f16[pass], 2); memcpy(one.bytes, &(uint16_t){ 1u << 9 }, 2); break;
    case QKVEC_BFLOAT16: memcpy(p.bytes, &bf16[pass], 2); memcpy(one.bytes, &(uint16_t){ 1u << 6 }, 2); break;
    default:             memcpy(p.bytes, &f32[pass], 4); memcpy(one.bytes, &(uint32_t){ UINT32_C(1) << 22 }, 4); break;
    }
    FOR(b, bytes) if (one.bytes[b]) {
        p.quiet_byte = b;
        p.same_byte = b ? 0 : 1;    /* one that quieting leaves alone */
        p.quiet_bit = one.bytes[b];
    }
    return p;
}

void call_blank(void *out, const struct call_plan *plan, int pass)
{
    size_t bytes = call_number_bytes(plan->call.dtype);
    struct pattern p = pattern_of(plan->call.dtype, pass);
    unsigned char many[64];    /* a room is a multiple of them */

    for (size_t at = 0; at < sizeof many; at += bytes)
        memcpy(many + at, p.bytes, bytes);
    FOR(k, CALL_OUTPUTS) {
        const struct call_slot *slot = &plan->out[k];
        for (size_t at = slot->first; at < slot->past; at += sizeof many)
            memcpy((char *)out + at, many, sizeof many);
    }
}

/* Bytes of [from, to) that are not the pattern; from is at a number's begin. */
static size_t changed(const char *out, size_t from, size_t to, const struct pattern *p, size_t bytes)
{
    size_t count = 0;

    /* Nothing but the pattern begins with it and goes on like itself. */
    if (to - from >= bytes && !memcmp(out + from, p->bytes, bytes) && !memcmp(out + from, out + from + bytes, to - from - bytes))
        return 0;
    for (size_t at = from; at < to; at++)
        count += (unsigned char)out[at] != p->bytes[at % bytes];
    return count;
}

static void index_text(char text[96], const struct array *stage, size_t m)
{
    size_t used = 0, rest = m, index[4] = { 0 };

    for (int k = stage->ndim; k-- > 0; rest /= stage->shape[k])
        index[k] = rest % stage->shape[k];
    for (int k = 0; k < stage->ndim; k++)
        used += (size_t)snprintf(text + used, 96 - used, "%s%zu", k ? "," : "[", index[k]);
    snprintf(text + used, 96 - used, "]");
}

static void shape_of(struct array *a, const struct call_plan *plan, size_t k)
{
    size_t N = (size_t)plan->call.N, L = (size_t)plan->call.L, E = (size_t)plan->call.E;
    size_t H = (size_t)plan->call.H, Sx = (size_t)plan->call.Sx;
    const struct array shape[CALL_OUTPUTS] = {
        { .ndim = 3, .shape = { N, L, E, 1 }, .size = N * L * E },
        { .ndim = 4, .shape = { N, H, L, Sx }, .size = N * H * L * Sx },
        { .ndim = 3, .shape = { N, L, Sx, 1 }, .size = N * L * Sx },
        { .ndim = 4, .shape = { N, H, L, E / H }, .size = N * L * E },
    };
    *a = shape[k];
    a->name = call_output_names[k];
}

static void inspect(char sentence[256], const char *out, const struct call_plan *plan, size_t k, const struct pattern *p)
{
    const struct call_slot *slot = &plan->out[k];
    size_t bytes = call_number_bytes(plan->call.dtype), left = 0, added = 0, first = 0;
    struct pattern quiet = *p;
    struct array shape;
    char index[96];

    quiet.bytes[p->quiet_byte] |= p->quiet_bit;
    shape_of(&shape, plan, k);
    FOR(m, shape.size) {
        const char *at = out + slot->at + m * bytes;
        if (at[p->same_byte] != (char)p->bytes[p->same_byte])    /* neither: the usual, told cheaply */
            continue;
        int same = !memcmp(at, p->bytes, bytes), sum = !memcmp(at, quiet.bytes, bytes);
        if ((same || sum) && !(left + added))
            first = m;
        left += (size_t)same;
        added += (size_t)sum;
    }
    if (!(left + added))
        return;
    index_text(index, &shape, first);
    if (left)
        snprintf(sentence, 256, "%s: %zu of %zu elements were not written, the first is %s%s", call_output_names[k],
                 left, shape.size, call_output_names[k], index);
    else
        snprintf(sentence, 256, "%s: %zu of %zu elements were computed from what the output held before the call, the first is %s%s",
                 call_output_names[k], added, shape.size, call_output_names[k], index);
}

void call_inspect(char sentence[256], const void *out, const struct call_plan *plan, int pass, uint32_t written)
{
    size_t bytes = call_number_bytes(plan->call.dtype);
    struct pattern p = pattern_of(plan->call.dtype, pass);

    sentence[0] = 0;
    FOR(k, CALL_OUTPUTS) {
        const struct call_slot *slot = &plan->out[k];
        size_t before = changed(out, slot->first, slot->at, &p, bytes);
        size_t behind = slot->past > slot->at + slot->bytes ? changed(out, slot->at + slot->bytes, slot->past, &p, bytes) : 0;
        if (before || behind) {
            snprintf(sentence, 256, "%s: %zu bytes were written %s the array", call_output_names[k],
                     before ? before : behind, before ? "in front of" : "behind");
            return;
        }
    }
    FOR(k, CALL_OUTPUTS)
        if (!sentence[0] && plan->out[k].there && (written >> k & 1))
            inspect(sentence, out, plan, k, &p);
}

static int is_zero(const char *from, size_t bytes)
{
    return !bytes || (!from[0] && !memcmp(from, from + 1, bytes - 1));
}

int call_strayed(const void *out, const struct call_plan *plan)
{
    const char *block = out;
    size_t page = plan->out_bytes / CALL_SMALL_OUTPUTS, used = 0;

    if (plan->small) {    /* the others may hold what earlier cases wrote */
        FOR(k, CALL_SMALL_OUTPUTS) if (call_output_gap(k) && !is_zero(block + k * page, page))
            return 1;
        return 0;
    }
    FOR(k, CALL_OUTPUTS) if (plan->out[k].there) {
        if (!is_zero(block + used, plan->out[k].first - used))
            return 1;
        used = plan->out[k].past;
    }
    return !is_zero(block + used, plan->out_bytes - used);
}

uint64_t call_sum(const void *block, const struct call_slot *slot, int count)
{
    uint64_t sum = 0, order = 0, word;    /* order is another sum, of all sums so far */

    for (int k = 0; k < count; k++) {
        const char *at = (const char *)block + slot[k].at;
        size_t rest = slot[k].there ? slot[k].bytes : 0;
        for (; rest >= sizeof word; rest -= sizeof word, at += sizeof word) {
            memcpy(&word, at, sizeof word);
            order += sum += word;
        }
        word = 0;
        memcpy(&word, at, rest);
        order += sum += word;
    }
    return sum ^ (order << 32 | order >> 32);
}

const char *call_read(struct array got[STAGES], const void *out, const struct call_plan *plan, uint32_t written)
{
    FOR(k, CALL_OUTPUTS) {
        struct array *a = &got[stage_of[k]];
        if (!plan->out[k].there || !(written >> k & 1))
            continue;
        shape_of(a, plan, k);
        if (!(a->v = malloc((a->size ? a->size : 1) * sizeof *a->v)))
            return "not enough memory for the results";
        call_get(a->v, (const char *)out + plan->out[k].at, plan->call.dtype, a->size);
    }
    return NULL;
}

void call_outcome(struct result *result, int returned, const char reason[QKVEC_REASON])
{
    int given = reason[0] != 0, length = QKVEC_REASON - 1;

    result->outcome = returned == QKVEC_DONE ? OUTCOME_PASS : returned == QKVEC_SKIP ? OUTCOME_SKIP : OUTCOME_ERROR;
    if (returned == QKVEC_SKIP)
        snprintf(result->reason, sizeof result->reason, "skipped by the kernel%s%.*s", given ? ": " : "", length, reason);
    else if (returned != QKVEC_DONE)
        snprintf(result->reason, sizeof result->reason, "the kernel returned %d%s%.*s", returned, given ? ": " : "", length, reason);
}
