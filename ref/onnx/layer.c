/* SPDX-License-Identifier: MIT */
/* Letters: N L S E H D Sx as in mha.h, i element, T rows of query or key. */
#include "layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *transpose(struct onnx_model *m, const char *out, const char *x, size_t count, const int64_t *perm)
{
    onnx_integers(m, "perm", count, perm);
    return onnx_node(m, out, "Transpose", x, NULL);
}

/* Sizes are written out: 0 in a shape would mean "as it was", and may be a size. */
static const char *reshape(struct onnx_model *m, const char *out, const char *x, size_t count, const size_t *shape)
{
    int64_t to[4];

    for (size_t d = 0; d < count; d++)
        to[d] = (int64_t)shape[d];
    return onnx_node(m, out, "Reshape", x, onnx_initializer(m, &(struct onnx_array){ NULL, ONNX_INT64, 1, { count }, to }), NULL);
}

static const char *concat(struct onnx_model *m, const char *x, const char *y, int64_t axis)
{
    onnx_integer(m, "axis", axis);
    return onnx_node(m, NULL, "Concat", x, y, NULL);
}

static const char *constant(struct onnx_model *m, float value)
{
    return onnx_initializer(m, &(struct onnx_array){ .type = ONNX_FLOAT, .ndim = 0, .data = &value });
}

/* Numbers in float32: row (width of them) again and again, zeros if row is NULL. */
static const char *repeated(struct onnx_model *m, int ndim, const size_t *shape, const real *row, size_t width)
{
    struct onnx_array a = { .type = ONNX_FLOAT, .ndim = ndim };
    size_t size = 1;
    const char *name;

    for (int d = 0; d < ndim; d++)
        size *= a.shape[d] = shape[d];
    float *x = calloc(size + 1, sizeof *x);
    if (!x) {
        m->failed = 1;
        return "";
    }
    for (size_t i = 0; row && i < size; i++)
        x[i] = (float)row[i % width];
    a.data = x;
    name = onnx_initializer(m, &a);
    free(x);
    return name;
}

/* A member of the vector's file, as it is stored. */
static struct onnx_array stored(const struct onnx_case *c, const char *name)
{
    const struct npz_array *a = npz_get(c->file, name);
    struct onnx_array to = { .name = name, .type = a->type == NPZ_B1 ? ONNX_BOOL : ONNX_FLOAT, .ndim = a->ndim, .data = a->data };

    memcpy(to.shape, a->shape, sizeof to.shape);
    return to;
}

static const char *parameter(struct onnx_model *m, const struct onnx_case *c, const char *name)
{
    struct onnx_array a = stored(c, name);

    return onnx_initializer(m, &a);
}

static const char *argument(struct onnx_model *m, const struct onnx_case *c, const char *name)
{
    struct onnx_array a = stored(c, name);

    return onnx_input(m, &a);
}

/* query, key or value (L,N,E), (N,L,E) or (L,E) -> (N,L,E) */
static const char *rows(struct onnx_model *m, const struct onnx_case *c, const char *name, size_t T, size_t width)
{
    const char *x = argument(m, c, name);

    if (!c->in->batched)
        return reshape(m, NULL, x, 3, (const size_t[]){ 1, T, width });
    return c->in->batch_first ? x : transpose(m, NULL, x, 3, (const int64_t[]){ 1, 0, 2 });
}

/* packed (3E,...) -> the blocks of q, k and v */
static void split(struct onnx_model *m, const struct onnx_case *c, const char *packed, const char *const block[4])
{
    int64_t E = (int64_t)c->in->E, sizes[3] = { E, E, E };
    const char *in[] = { parameter(m, c, packed), onnx_initializer(m, &(struct onnx_array){ NULL, ONNX_INT64, 1, { 3 }, sizes }), NULL };

    onnx_integer(m, "axis", 0);
    onnx_node_of(m, "Split", block, in);
}

/* x @ w.T + b; b may be NULL */
static const char *project(struct onnx_model *m, const char *out, const char *x, const char *w, const char *b)
{
    const char *w_t = transpose(m, NULL, w, 2, (const int64_t[]){ 1, 0 });

    if (!b)
        return onnx_node(m, out, "MatMul", x, w_t, NULL);
    return onnx_node(m, out, "Add", onnx_node(m, NULL, "MatMul", x, w_t, NULL), b, NULL);
}

/* (N,S,E) -> (N,Sx,E): the row of add_bias_kv, then that of add_zero_attn */
static const char *append_rows(struct onnx_model *m, const struct mha_in *in, const char *x, const real *bias)
{
    const size_t row[3] = { in->N, 1, in->E };

    if (bias)
        x = concat(m, x, repeated(m, 3, row, bias, in->E), 1);
    if (in->add_zero_attn)
        x = concat(m, x, repeated(m, 3, row, NULL, 0), 1);
    return x;
}

/* (N,T,E) -> (N,H,T,D) */
static const char *split_heads(struct onnx_model *m, const struct mha_in *in, const char *x, size_t T)
{
    const char *by_head = reshape(m, NULL, x, 4, (const size_t[]){ in->N, T, in->H, in->E / in->H });

    return transpose(m, NULL, by_head, 4, (const int64_t[]){ 0, 2, 1, 3 });
}

/* scores + mask, of shape (n,h,l,S) before the appended keys, which are never masked */
static const char *add_mask(struct onnx_model *m, const struct onnx_case *c, const char *scores, const char *name,
                            const struct mask *mask, const size_t shape[4])
{
    size_t appended = c->stage[MASK].shape[3] - c->in->S;
    const char *x = argument(m, c, name);

    if (mask->masked)
        x = onnx_node(m, NULL, "Where", x, constant(m, -INFINITY), constant(m, 0), NULL);
    x = reshape(m, NULL, x, 4, shape);
    if (appended)
        x = concat(m, x, repeated(m, 4, (const size_t[]){ shape[0], shape[1], shape[2], appended }, NULL, 0), 3);
    return onnx_node(m, NULL, "Add", scores, x, NULL);
}

/* softmax(q @ k.T / sqrt(D) + masks) @ v */
static const char *core(struct onnx_model *m, const struct onnx_case *c, const char *q, const char *k, const char *v)
{
    const struct mha_in *in = c->in;
    size_t N = in->N, H = in->H, L = in->L, S = in->S;
    const char *k_t = transpose(m, NULL, k, 4, (const int64_t[]){ 0, 1, 3, 2 });
    const char *scores = onnx_node(m, NULL, "Mul", onnx_node(m, NULL, "MatMul", q, k_t, NULL),
                                   constant(m, (float)(1 / sqrt((double)(in->E / H)))), NULL);

    if (in->attn_mask.ndim == 2)
        scores = add_mask(m, c, scores, "attn_mask", &in->attn_mask, (const size_t[]){ 1, 1, L, S });
    if (in->attn_mask.ndim == 3)
        scores = add_mask(m, c, scores, "attn_mask", &in->attn_mask, (const size_t[]){ N, H, L, S });
    if (in->key_padding_mask.ndim)
        scores = add_mask(m, c, scores, "key_padding_mask", &in->key_padding_mask, (const size_t[]){ N, 1, 1, S });
    onnx_integer(m, "axis", 3);
    return onnx_node(m, NULL, "MatMul", onnx_node(m, "attn_weights", "Softmax", scores, NULL), v, NULL);
}

/* The graph but for its outputs: it computes output and attn_weights. */
static void graph(struct onnx_model *m, const struct onnx_case *c)
{
    const struct mha_in *in = c->in;
    size_t Sx = c->stage[MASK].shape[3];
    const char *w[] = { "q_weight", "k_weight", "v_weight", NULL }, *b[] = { "q_bias", "k_bias", "v_bias", NULL };

    if (in->in_proj_weight) {
        split(m, c, "in_proj_weight", w);
    } else {
        w[0] = parameter(m, c, "q_proj_weight");
        w[1] = parameter(m, c, "k_proj_weight");
        w[2] = parameter(m, c, "v_proj_weight");
    }
    if (in->in_proj_bias)
        split(m, c, "in_proj_bias", b);
    else
        b[0] = b[1] = b[2] = NULL;

    const char *q = project(m, NULL, rows(m, c, "query", in->L, in->E), w[0], b[0]);
    const char *k = project(m, NULL, rows(m, c, "key", in->S, in->Ek), w[1], b[1]);
    const char *v = project(m, NULL, rows(m, c, "value", in->S, in->Ev), w[2], b[2]);
    q = split_heads(m, in, q, in->L);
    k = split_heads(m, in, append_rows(m, in, k, in->bias_k), Sx);
    v = split_heads(m, in, append_rows(m, in, v, in->bias_v), Sx);
    const char *heads = transpose(m, NULL, core(m, c, q, k, v), 4, (const int64_t[]){ 0, 2, 1, 3 });
    const char *merged = reshape(m, NULL, heads, 3, (const size_t[]){ in->N, in->L, in->E });
    const char *out_bias = in->out_proj_bias ? parameter(m, c, "out_proj.bias") : NULL;
    project(m, "output", merged, parameter(m, c, "out_proj.weight"), out_bias);
}

/* A stage in float32. */
static void with_stage(struct onnx_model *m, const char *(*put)(struct onnx_model *, const struct onnx_array *),
                       const char *name, const struct array *stage)
{
    struct onnx_array a = { .name = name, .type = ONNX_FLOAT, .ndim = stage->ndim };
    float *x = calloc(stage->size + 1, sizeof *x);

    if (!x) {
        m->failed = 1;
        return;
    }
    for (size_t i = 0; i < stage->size; i++)
        x[i] = (float)stage->v[i];
    memcpy(a.shape, stage->shape, sizeof a.shape);
    a.data = x;
    put(m, &a);
    free(x);
}

void onnx_layer(struct onnx_model *m, const struct onnx_case *c)
{
    graph(m, c);
    with_stage(m, onnx_output, "output", &c->stage[OUTPUT]);
    with_stage(m, onnx_output, "attn_weights", &c->stage[ATTN_WEIGHTS]);
}

/* ---- the judge ---- */

/* What a judged output is compared with, element by element. */
struct wanted {
    double *golden, *limit;         /* 0 where the golden number is not finite */
    double *infinity;               /* the golden infinity, else NaN, which nothing equals */
    unsigned char *finite, *nan;
    unsigned char *yes;             /* 1: the expected verdicts */
};

static void *wanted_free(struct wanted *w)
{
    free(w->golden);
    free(w->yes);
    return NULL;
}

static int wanted_make(struct wanted *w, const struct onnx_case *c, enum mha_stage k)
{
    const struct array *stage = &c->stage[k];
    size_t n = stage->size;
    double *x = calloc(3 * n + 1, sizeof *x);
    unsigned char *bits = calloc(3 * n + 1, 1);

    *w = (struct wanted){ x, x + n, x + 2 * n, bits + n, bits + 2 * n, bits };
    if (!x || !bits)
        return 0;
    for (size_t i = 0; i < n; i++) {
        double g = (double)stage->v[i];
        w->yes[i] = 1;
        w->finite[i] = isfinite(g) ? 1 : 0;
        w->nan[i] = (unsigned char)(isnan(g) ? 1 : 0);
        w->infinity[i] = isinf(g) ? g : NAN;
        w->golden[i] = isfinite(g) ? g : 0;
        w->limit[i] = isfinite(g) ? c->sigmas * (double)c->sigma[k].v[i] + c->floor : 0;
    }
    return 1;
}

/* conforms = finite and |value - golden| <= limit, or NaN where it is wanted, or
 * the infinity that is wanted. And and Or in place of Where, which ONNX Runtime lacks for bool. */
static void judge(struct onnx_model *m, const struct onnx_case *c, enum mha_stage k, const char *value, const char *conforms)
{
    struct onnx_array a = { .type = ONNX_DOUBLE, .ndim = c->stage[k].ndim };
    struct wanted w;

    memcpy(a.shape, c->stage[k].shape, sizeof a.shape);
    if (!wanted_make(&w, c, k)) {
        m->failed = 1;
        wanted_free(&w);
        return;
    }
#define NUMBERS(of) (a.data = (of), onnx_initializer(m, &a))
    onnx_integer(m, "to", ONNX_DOUBLE);
    const char *x = onnx_node(m, NULL, "Cast", value, NULL);
    const char *distance = onnx_node(m, NULL, "Abs", onnx_node(m, NULL, "Sub", x, NUMBERS(w.golden), NULL), NULL);
    const char *near = onnx_node(m, NULL, "LessOrEqual", distance, NUMBERS(w.limit), NULL);
    const char *infinite = onnx_node(m, NULL, "Equal", x, NUMBERS(w.infinity), NULL);
    a.type = ONNX_BOOL;
    const char *measured = onnx_node(m, NULL, "And", near, NUMBERS(w.finite), NULL);
    const char *not_a_number = onnx_node(m, NULL, "And", onnx_node(m, NULL, "IsNaN", x, NULL), NUMBERS(w.nan), NULL);
    onnx_node(m, conforms, "Or", measured, onnx_node(m, NULL, "Or", infinite, not_a_number, NULL), NULL);
    a.name = conforms;
    a.data = w.yes;
    onnx_output(m, &a);
#undef NUMBERS
    wanted_free(&w);
}

void onnx_judged_layer(struct onnx_model *m, const struct onnx_case *c)
{
    graph(m, c);
    judge(m, c, OUTPUT, "output", "output_conforms");
    judge(m, c, ATTN_WEIGHTS, "attn_weights", "attn_weights_conforms");
}

/* ---- the standard operator ---- */

/* The merged mask, if it does anything: bool where it only opens and closes
 * (ONNX's true means "may be attended"), else float. Returns its name, or NULL. */
static const char *core_mask(struct onnx_model *m, const struct onnx_case *c)
{
    const struct array *mask = &c->stage[MASK];
    int changes = 0, adds = 0;

    for (size_t i = 0; i < mask->size; i++) {
        changes = changes || mask->v[i] != 0;
        adds = adds || (mask->v[i] != 0 && mask->v[i] != -(real)INFINITY);
    }
    if (!changes)
        return NULL;
    if (adds) {
        with_stage(m, onnx_input, "attn_mask", mask);
    } else {
        unsigned char *open = calloc(mask->size + 1, 1);
        if (!open) {
            m->failed = 1;
            return NULL;
        }
        for (size_t i = 0; i < mask->size; i++)
            open[i] = mask->v[i] == 0;
        struct onnx_array a = { .name = "attn_mask", .type = ONNX_BOOL, .ndim = mask->ndim, .data = open };
        memcpy(a.shape, mask->shape, sizeof a.shape);
        onnx_input(m, &a);
        free(open);
    }
    return "attn_mask";
}

void onnx_core(struct onnx_model *m, const struct onnx_case *c)
{
    const char *in[] = { "Q", "K", "V", NULL, NULL }, *out[] = { "Y", "", "", "weights", NULL };

    with_stage(m, onnx_input, "Q", &c->stage[Q_HEADS]);
    with_stage(m, onnx_input, "K", &c->stage[K_HEADS]);
    with_stage(m, onnx_input, "V", &c->stage[V_HEADS]);
    in[3] = core_mask(m, c);
    onnx_integer(m, "qk_matmul_output_mode", 3);    /* the weights, behind the softmax */
    onnx_node_of(m, "Attention", out, in);
    with_stage(m, onnx_output, "Y", &c->stage[HEAD_OUTPUTS]);
    with_stage(m, onnx_output, "weights", &c->stage[ATTN_WEIGHTS]);
}
