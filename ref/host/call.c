/* SPDX-License-Identifier: MIT */
/*
 * Letters: k input or output, m element of a whole array.
 */
#include "call.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

#define NAME(member) #member
#define PLACE(member) offsetof(struct qkvec_call, member)
#define INPUTS(F) { F(query), F(key), F(value), F(in_proj_weight), F(q_weight), F(k_weight), F(v_weight), \
                    F(in_proj_bias), F(out_weight), F(out_bias), F(bias_k), F(bias_v), F(attn_mask), \
                    F(key_padding_mask), F(mask), F(q_heads), F(k_heads), F(v_heads) }
#define OUTPUTS(F) { F(output), F(attn_weights), F(attn_weights_mean), F(head_outputs) }

const char *const call_input_names[CALL_INPUTS] = INPUTS(NAME);
const char *const call_output_names[CALL_OUTPUTS] = OUTPUTS(NAME);
static const size_t input_place[CALL_INPUTS] = INPUTS(PLACE);
static const size_t output_place[CALL_OUTPUTS] = OUTPUTS(PLACE);

/* Where an input comes from: numbers or flags, NULL where it is computed. */
struct source {
    int there;
    const real *numbers;
    const unsigned char *flags;
    size_t count;
    size_t N, T;     /* T > 0: (T,N,...), which becomes (N,T,...) */
};

static struct source parameter(const real *x, size_t count)
{
    return (struct source){ .there = x != NULL, .numbers = x, .count = count };
}

static struct source argument(const real *x, size_t T, size_t width, const struct mha_in *in)
{
    return (struct source){ .there = 1, .numbers = x, .count = in->N * T * width, .N = in->N, .T = in->batch_first ? 0 : T };
}

static struct source given_mask(const struct mask *mask, size_t count)
{
    return (struct source){ .there = mask->ndim != 0, .numbers = mask->added, .flags = mask->masked, .count = count };
}

static void sources(struct source s[CALL_INPUTS], const struct mha_in *in, enum scope scope)
{
    size_t N = in->N, L = in->L, S = in->S, E = in->E, H = in->H, D = E / H;
    size_t Sx = S + (in->bias_k != NULL) + (in->add_zero_attn != 0);
    const real *packed = in->in_proj_weight;

    FOR(k, CALL_INPUTS) s[k] = (struct source){ 0 };
    s[CALL_ATTN_MASK] = given_mask(&in->attn_mask, (in->attn_mask.ndim == 3 ? N * H : 1) * L * S);
    s[CALL_KEY_PADDING_MASK] = given_mask(&in->key_padding_mask, N * S);
    s[CALL_MASK] = (struct source){ .there = 1, .count = N * H * L * Sx };
    if (scope == SCOPE_CORE) {
        s[CALL_Q_HEADS] = (struct source){ .there = 1, .count = N * H * L * D };
        s[CALL_K_HEADS] = s[CALL_V_HEADS] = (struct source){ .there = 1, .count = N * H * Sx * D };
        return;
    }
    s[CALL_QUERY] = argument(in->query, L, E, in);
    s[CALL_KEY] = argument(in->key, S, in->Ek, in);
    s[CALL_VALUE] = argument(in->value, S, in->Ev, in);
    s[CALL_IN_PROJ_WEIGHT] = parameter(packed, 3 * E * E);
    s[CALL_Q_WEIGHT] = parameter(packed ? packed : in->q_proj_weight, E * E);
    s[CALL_K_WEIGHT] = parameter(packed ? packed + E * E : in->k_proj_weight, E * in->Ek);
    s[CALL_V_WEIGHT] = parameter(packed ? packed + 2 * E * E : in->v_proj_weight, E * in->Ev);
    s[CALL_IN_PROJ_BIAS] = parameter(in->in_proj_bias, 3 * E);
    s[CALL_OUT_WEIGHT] = parameter(in->out_proj_weight, E * E);
    s[CALL_OUT_BIAS] = parameter(in->out_proj_bias, E);
    s[CALL_BIAS_K] = parameter(in->bias_k, E);
    s[CALL_BIAS_V] = parameter(in->bias_v, E);
}

/* ---- the plan ---- */

static size_t up(size_t x, size_t step)
{
    return (x + step - 1) / step * step;
}

/* An array of that many bytes. */
static struct call_slot place(size_t first, size_t bytes, struct call_layout layout)
{
    size_t past = first + up(bytes ? bytes : 1, layout.page ? layout.page : 64);

    if (layout.page && !bytes)    /* nothing to touch: its address is an unused page */
        past = first;
    return (struct call_slot){
        .there = 1, .first = first, .past = past, .bytes = bytes,
        .at = layout.page && layout.at_end ? past - bytes : first,
    };
}

/* One array behind the other; the bytes of the whole block. */
static size_t in_a_row(struct call_slot *slot, const size_t *bytes, size_t count, struct call_layout layout)
{
    size_t used = layout.page;

    FOR(k, count) if (slot[k].there) {
        slot[k] = place(used, bytes[k], layout);
        used += up(bytes[k] ? bytes[k] : 1, layout.page ? layout.page : 64) + layout.page;
    }
    return used;
}

/* The first page of the inputs, or the outputs, that are not in_proj_weight. */
enum { FIRST_INPUT = 1 + CALL_PACKED_PAGES + 1, FIRST_OUTPUT = 1 };

int call_input_gap(size_t page_number)
{
    return page_number == 0 || (page_number >= FIRST_INPUT - 1 && (page_number - (FIRST_INPUT - 1)) % 2 == 0);
}

int call_output_gap(size_t page_number)
{
    return page_number % 2 == 0;
}

static int is_small(const struct call_slot *slot, const size_t *bytes, size_t count, size_t packed, size_t page)
{
    FOR(k, count) if (slot[k].there && bytes[k] > (k == packed ? CALL_PACKED_PAGES * page : page))
        return 0;
    return 1;
}

/* Every second page has an array, from page first on; empty ones, which nothing
 * may touch, come last. */
static void place_small(struct call_slot *slot, const size_t *bytes, size_t count, size_t packed, size_t first, struct call_layout layout)
{
    size_t next = first * layout.page;

    for (int empty = 0; empty < 2; empty++)
        FOR(k, count) if (slot[k].there && (bytes[k] == 0) == empty) {
            if (k == packed) {    /* it ends in front of the others */
                slot[k] = place((first - 1) * layout.page - up(bytes[k], layout.page), bytes[k], layout);
            } else {
                slot[k] = place(next, bytes[k], layout);
                next += 2 * layout.page;
            }
        }
}

void call_plan(struct call_plan *plan, const struct vector *v, const struct profile *p,
               enum scope scope, struct call_layout layout)
{
    const struct mha_in *in = &v->in;
    struct source source[CALL_INPUTS];
    size_t N = in->N, L = in->L, E = in->E, H = in->H, Sx = in->S + (in->bias_k != NULL) + (in->add_zero_attn != 0);
    size_t count[CALL_OUTPUTS] = { N * L * E, N * H * L * Sx, N * L * Sx, N * L * E };
    size_t in_bytes[CALL_INPUTS] = { 0 }, out_bytes[CALL_OUTPUTS];
    uint32_t dtype = call_dtype(p);

    *plan = (struct call_plan){ .call = {
        .abi = QKVEC_ABI, .size = sizeof(struct qkvec_call), .dtype = dtype,
        .flags = (v->is_causal ? QKVEC_CAUSAL : 0u) | (in->add_zero_attn ? QKVEC_ZERO_ATTN : 0u),
        .N = (int64_t)N, .L = (int64_t)L, .S = (int64_t)in->S, .Sx = (int64_t)Sx,
        .E = (int64_t)E, .Ek = (int64_t)in->Ek, .Ev = (int64_t)in->Ev, .H = (int64_t)H,
        .attn_mask_ndim = (uint32_t)in->attn_mask.ndim,
        .attn_mask_dtype = in->attn_mask.masked ? QKVEC_BOOL : dtype,
        .padding_dtype = in->key_padding_mask.masked ? QKVEC_BOOL : dtype,
    } };
    sources(source, in, scope);
    FOR(k, CALL_INPUTS) {
        plan->in[k].there = source[k].there;
        in_bytes[k] = source[k].count * call_number_bytes(source[k].flags ? QKVEC_BOOL : dtype);
    }
    FOR(k, CALL_OUTPUTS) {
        plan->out[k].there = scope == SCOPE_LAYER || k != CALL_OUTPUT;
        out_bytes[k] = count[k] * call_number_bytes(dtype);
    }
    if (layout.page && is_small(plan->in, in_bytes, CALL_INPUTS, CALL_IN_PROJ_WEIGHT, layout.page)
        && is_small(plan->out, out_bytes, CALL_OUTPUTS, CALL_OUTPUTS, layout.page)) {
        place_small(plan->in, in_bytes, CALL_INPUTS, CALL_IN_PROJ_WEIGHT, FIRST_INPUT, layout);
        place_small(plan->out, out_bytes, CALL_OUTPUTS, CALL_OUTPUTS, FIRST_OUTPUT, layout);
        plan->in_bytes = CALL_SMALL_INPUTS * layout.page;
        plan->out_bytes = CALL_SMALL_OUTPUTS * layout.page;
        plan->small = 1;
        return;
    }
    plan->in_bytes = in_a_row(plan->in, in_bytes, CALL_INPUTS, layout);
    plan->out_bytes = in_a_row(plan->out, out_bytes, CALL_OUTPUTS, layout);
}

void call_bind(struct qkvec_call *call, const struct call_plan *plan, const void *in, void *out,
               uint32_t *written, char reason[QKVEC_REASON])
{
    *call = plan->call;
    FOR(k, CALL_INPUTS) {
        const void *address = plan->in[k].there ? (const char *)in + plan->in[k].at : NULL;
        memcpy((char *)call + input_place[k], &address, sizeof address);
    }
    FOR(k, CALL_OUTPUTS) {
        void *address = plan->out[k].there ? (char *)out + plan->out[k].at : NULL;
        memcpy((char *)call + output_place[k], &address, sizeof address);
    }
    call->written = written;
    call->reason = reason;
}

/* ---- inputs ---- */

static void fill(char *in, const struct call_slot *slot, const struct source *s, uint32_t dtype)
{
    void *to = in + slot->at;
    size_t width = s->T && s->N ? s->count / (s->N * s->T) : 0;

    if (s->flags)
        memcpy(to, s->flags, s->count);
    else if (!width)
        call_put(to, dtype, 0, s->numbers, s->count);
    else
        FOR(n, s->N) FOR(t, s->T) call_put(to, dtype, (n * s->T + t) * width, s->numbers + (t * s->N + n) * width, width);
}

/* The merged mask depends on nothing but the masks: for the layer it is the
 * only stage that has a size, and the recipe has nothing else to do. */
static const char *computed(struct array t[STAGES], const struct mha_in *in, const struct profile *p, enum scope scope)
{
    const char *wrong;

    if (scope == SCOPE_CORE) {
        if ((wrong = mha_alloc(t, in)))
            return wrong;
        expected_heads(t, in, p, scope);
    } else {
        size_t N = in->N, H = in->H, L = in->L, Sx = in->S + (in->bias_k != NULL) + (in->add_zero_attn != 0);
        FOR(k, STAGES) t[k] = (struct array){ 0 };
        t[MASK] = (struct array){ .ndim = 4, .shape = { N, H, L, Sx }, .size = N * H * L * Sx };
        if (!(t[MASK].v = malloc((t[MASK].size ? t[MASK].size : 1) * sizeof *t[MASK].v)))
            return "not enough memory for a mask";
    }
    mha_core(t, in);
    return NULL;
}

void call_clear(void *in, const struct call_plan *plan)
{
    FOR(k, CALL_INPUTS) if (plan->in[k].there)
        memset((char *)in + plan->in[k].first, 0xFF, plan->in[k].past - plan->in[k].first);
}

void call_clear_used(void *in, const struct call_slot used[CALL_INPUTS])
{
    FOR(k, CALL_INPUTS) if (used[k].there)
        memset((char *)in + used[k].at, 0xFF, used[k].bytes);
}

const char *call_fill(void *in, const struct call_plan *plan, const struct vector *v,
                      const struct profile *p, enum scope scope)
{
    static const enum mha_stage stage[CALL_INPUTS] = {
        [CALL_MASK] = MASK, [CALL_Q_HEADS] = Q_HEADS, [CALL_K_HEADS] = K_HEADS, [CALL_V_HEADS] = V_HEADS,
    };
    struct source source[CALL_INPUTS];
    struct array t[STAGES];
    const char *wrong = computed(t, &v->in, p, scope);

    if (wrong)
        return wrong;
    sources(source, &v->in, scope);
    FOR(k, CALL_INPUTS) {
        if (!source[k].there)
            continue;
        if (stage[k])
            source[k].numbers = t[stage[k]].v;
        if (source[k].count)
            fill(in, &plan->in[k], &source[k], plan->call.dtype);
    }
    mha_free(t);
    return NULL;
}
