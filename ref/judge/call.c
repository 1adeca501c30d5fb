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
        used = slot[k].past + (slot[k].past == slot[k].first ? layout.page : 0) + layout.page;
    }
    return used;
}

/* Of three square weights, in_proj_weight is the first to outgrow a page. */
enum { PACKED_PAGES = 4 };

struct call_room call_input_room(enum call_input k, size_t page)
{
    size_t wide = PACKED_PAGES - 1, before = 1 + 2 * (size_t)k + (k > CALL_IN_PROJ_WEIGHT ? wide : 0);

    return (struct call_room){ before * page, k == CALL_IN_PROJ_WEIGHT ? PACKED_PAGES * page : page };
}

struct call_room call_output_room(enum call_output k, size_t page)
{
    return (struct call_room){ (1 + 2 * (size_t)k) * page, page };
}

/* Every array in the room of its kind, or 0. */
static int in_rooms(struct call_plan *plan, const size_t *in, const size_t *out, struct call_layout layout)
{
    if (!layout.page)
        return 0;
    FOR(k, CALL_INPUTS) if (plan->in[k].there && in[k] > call_input_room((enum call_input)k, layout.page).bytes)
        return 0;
    FOR(k, CALL_OUTPUTS) if (plan->out[k].there && out[k] > call_output_room((enum call_output)k, layout.page).bytes)
        return 0;
    FOR(k, CALL_INPUTS) if (plan->in[k].there)
        plan->in[k] = place(call_input_room((enum call_input)k, layout.page).first, in[k], layout);
    FOR(k, CALL_OUTPUTS) if (plan->out[k].there)
        plan->out[k] = place(call_output_room((enum call_output)k, layout.page).first, out[k], layout);
    plan->in_bytes = call_input_room(CALL_INPUTS, layout.page).first;
    plan->out_bytes = call_output_room(CALL_OUTPUTS, layout.page).first;
    return 1;
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
    if ((plan->in_rooms = in_rooms(plan, in_bytes, out_bytes, layout)))
        return;
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
        FOR(m, s->count) call_put(to, dtype, m, (double)s->numbers[m]);
    else
        FOR(n, s->N) FOR(t, s->T) FOR(c, width)
            call_put(to, dtype, (n * s->T + t) * width + c, (double)s->numbers[(t * s->N + n) * width + c]);
}

/* The merged mask depends on nothing but the masks: for the layer it is the
 * only stage that has a size, and the recipe has nothing else to do. */
static const char *computed(struct array t[STAGES], const struct mha_in *in, const struct profile *p, enum scope scope)
{
    const char *wrong;

    if (scope == SCOPE_CORE) {
        if ((wrong = mha_alloc(t, in)))
            return wrong;
        truth_heads(t, in, p, scope);
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
        memset((char *)in + plan->in[k].first, 0xFF, plan->in[k].past - plan->in[k].first);
        if (source[k].count)
            fill(in, &plan->in[k], &source[k], plan->call.dtype);
    }
    mha_free(t);
    return NULL;
}
