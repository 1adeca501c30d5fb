/* SPDX-License-Identifier: MIT */
/*
 * What the shapes of a layer's tensors mean. A weight may lie as (out,in) or as
 * (in,out); each of the two is a view, and a view that a shape, a bias,
 * config.json or the user contradicts is impossible. If both are possible and
 * mean different things, the names decide, or nobody does.
 */
#include "layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct view {
    int possible;
    size_t inputs[3], rows[3];
    size_t H, G, D;              /* 0: unknown */
    int out_transposed;
    size_t out_width;
    char why[160];               /* what contradicts it */
};

/* ---- tensors as matrices ---- */

struct matrix {
    size_t rows, columns;
    size_t H, D;                 /* of (E,H,D) or (H,D,E); else 0 */
};

/* Dimensions without those of 1 at the end: a convolution of width 1 is a matrix. */
static int dimensions(const struct tensor *t)
{
    int n = t->ndim;

    while (n > 2 && t->shape[n - 1] == 1)
        n--;
    return n;
}

/* Read a weight as a matrix; with split_first the first two dimensions of three are H and D. Returns 0 if it is none. */
static int as_matrix(struct matrix *m, const struct tensor *t, int three, int split_first)
{
    int n = three && t->ndim == 3 ? 3 : dimensions(t);

    *m = (struct matrix){ 0 };
    if (n == 2)
        *m = (struct matrix){ t->shape[0], t->shape[1], 0, 0 };
    else if (n == 3 && three) {
        size_t a = t->shape[split_first ? 0 : 1], b = t->shape[split_first ? 1 : 2], other = t->shape[split_first ? 2 : 0];
        if (!a || !b || a > SIZE_MAX / b)
            return 0;
        *m = split_first ? (struct matrix){ a * b, other, a, b } : (struct matrix){ other, a * b, a, b };
    }
    return m->rows && m->columns && m->rows < SIZE_MAX / 8 && m->columns < SIZE_MAX / 8;
}

static size_t size_of(const struct tensor *t)
{
    size_t size = 1;

    for (int k = 0; k < t->ndim; k++)
        size *= t->shape[k];
    return size;
}

/* ---- one view ---- */

static void refuse(struct view *v, const char *format, ...) QKVEC_PRINTF(2, 3);

static void refuse(struct view *v, const char *format, ...)
{
    va_list list;

    if (!v->possible)
        return;
    v->possible = 0;
    va_start(list, format);
    vsnprintf(v->why, sizeof v->why, format, list);
    va_end(list);
}

/* Refuse heads of q, k and v that do not divide one another. */
static void check_rows(struct view *v)
{
    size_t A = v->rows[0], K = v->rows[1];

    if (v->rows[1] != v->rows[2])
        refuse(v, "k has %zu outputs and v %zu", v->rows[1], v->rows[2]);
    else if (!K || K > A || A % K)
        refuse(v, "%zu outputs of k do not divide the %zu of q", K, A);
}

/* Set the heads from H and G, of which G may be 0, if the rows allow it. Returns 0 if they do not. */
static int fits_heads(struct view *v, size_t H, size_t G, size_t D)
{
    size_t A = v->rows[0], K = v->rows[1], d = D ? D : H && A % H == 0 ? A / H : 0;

    if (!d || A % d || A / d != H || K % d || H % (K / d) || (G && G != K / d))
        return 0;
    v->H = H;
    v->G = K / d;
    v->D = d;
    return 1;
}

/* Hold the rows against the heads that the user, the tensors or config.json give. */
static void check_heads(struct view *v, const struct clues *clues, const struct matrix *q)
{
    const struct config *config = clues->config;
    size_t about = 0, fitting = 0;
    const struct config_section *wrong = NULL;
    struct view first = { 0 };

    if (!v->possible)
        return;
    if (clues->H || clues->G) {
        size_t H = clues->H ? clues->H : v->rows[1] % clues->G ? 0 : v->rows[0] / (v->rows[1] / clues->G);
        if (!fits_heads(v, H, clues->G, 0))
            refuse(v, "%zu heads%s do not divide the %zu outputs of q and %zu of k", clues->H ? clues->H : clues->G,
                   clues->H ? "" : " of k", v->rows[0], v->rows[1]);
        return;
    }
    if (q->H) {
        if (!fits_heads(v, q->H, 0, q->D))
            refuse(v, "q has %zu heads of %zu channels, and k %zu outputs", q->H, q->D, v->rows[1]);
        return;
    }
    for (size_t k = 0; config && k < config->count; k++) {
        const struct config_section *s = &config->section[k];
        struct view tried = *v;
        if (s->hidden && s->hidden != v->inputs[0])
            continue;
        about += s->hidden != 0;
        if (!fits_heads(&tried, s->H, s->G, s->D))
            wrong = s->hidden ? s : wrong;
        else if (!fitting++)
            first = tried;
        else if (first.H != tried.H || first.G != tried.G)
            first.H = first.G = first.D = 0;    /* two models of one width */
    }
    if (fitting)
        *v = first;
    else if (about && wrong)
        refuse(v, "config.json beside it: %zu heads, %zu of k, %zu channels each%s, but q has %zu outputs and k %zu", wrong->H, wrong->G,
               wrong->D ? wrong->D : v->inputs[0] / wrong->H, wrong->D ? "" : " at most", v->rows[0], v->rows[1]);
    if (v->rows[1] && v->rows[0] == v->rows[1] && v->H)
        v->G = v->H;
}

/* The output projection takes A inputs. By convention it lies like the weights. */
static void check_out(struct view *v, const struct layer *l, int in_out)
{
    struct matrix m;
    size_t A = v->rows[0];

    v->out_width = v->inputs[0];
    v->out_transposed = in_out;
    if (!l->out_weight || !v->possible)
        return;
    if (!as_matrix(&m, l->out_weight, l->in_out || (l->naming->shapes & NAMED_3D), l->in_out))
        refuse(v, "the output projection is no matrix");
    else if (l->naming->shapes & NAMED_3D && m.columns == A)
        v->out_transposed = 0;
    else if (m.columns != A && m.rows != A)
        refuse(v, "the output projection takes %zu inputs or %zu, and q, k, v make %zu", m.columns, m.rows, A);
    else if (m.columns != A || m.rows != A)
        v->out_transposed = m.rows == A;
    if (v->possible)
        v->out_width = v->out_transposed ? m.columns : m.rows;
    if (v->possible && l->out_bias && size_of(l->out_bias) != v->out_width)
        refuse(v, "the bias of the output projection has %zu elements, wanted %zu", size_of(l->out_bias), v->out_width);
    if (v->possible && !l->naming->origin[0] && v->out_width != v->inputs[0])
        refuse(v, "the output projection gives %zu outputs, wanted E = %zu", v->out_width, v->inputs[0]);
}

static void check_biases(struct view *v, const struct layer *l)
{
    size_t all = v->rows[0] + v->rows[1] + v->rows[2];
    int packed = !l->naming->bias[1];
    char shown[SHOWN];

    for (int s = 0; s < 3 && v->possible; s++) {
        size_t wanted = packed ? all : v->rows[s];
        if (l->bias[s] && size_of(l->bias[s]) != wanted)
            refuse(v, "%.60s has %zu elements, wanted %zu", show_name(shown, l->bias[s]->name, strlen(l->bias[s]->name)), size_of(l->bias[s]), wanted);
    }
    if ((l->bias_k && size_of(l->bias_k) != v->rows[1]) || (l->bias_v && size_of(l->bias_v) != v->rows[2]))
        refuse(v, "bias_k or bias_v has another size than (1, 1, %zu)", v->rows[1]);
}

/* View three separate weights as (out,in), or with in_out as (in,out). */
static void view_separate(struct view *v, const struct layer *l, const struct clues *clues, int in_out)
{
    struct matrix m[3];
    int three = l->in_out || (l->naming->shapes & NAMED_3D);

    *v = (struct view){ .possible = 1 };
    for (int s = 0; s < 3; s++) {
        char shown[SHOWN], shape[192];
        if (!as_matrix(&m[s], l->weight[s], three, 0) || (three && !in_out && m[s].H)) {
            refuse(v, "%.80s: found shape %.60s, wanted a matrix", show_name(shown, l->weight[s]->name, strlen(l->weight[s]->name)),
                   tensor_shape_text(shape, l->weight[s]));
            return;
        }
        v->rows[s] = in_out ? m[s].columns : m[s].rows;
        v->inputs[s] = in_out ? m[s].rows : m[s].columns;
    }
    check_rows(v);
    if (!l->naming->origin[0] && v->rows[0] != v->inputs[0])
        refuse(v, "q_proj_weight is (%zu, %zu), wanted (E, E)", m[0].rows, m[0].columns);
    check_biases(v, l);
    check_heads(v, clues, &m[0]);
    check_out(v, l, in_out);
}

/* View a packed weight as (out,in), or with in_out as (in,out). A is what the
 * output projection takes, and the E of the weight without one. */
static void view_packed(struct view *v, const struct layer *l, const struct clues *clues, int in_out)
{
    struct matrix m, out = { 0 }, none = { 0 };
    char shape[192], shown[SHOWN];

    *v = (struct view){ .possible = 1 };
    if (!as_matrix(&m, l->weight[0], 0, 0)) {
        refuse(v, "%.80s: found shape %.60s, wanted (3E, E)", show_name(shown, l->weight[0]->name, strlen(l->weight[0]->name)),
               tensor_shape_text(shape, l->weight[0]));
        return;
    }
    size_t E = in_out ? m.rows : m.columns, all = in_out ? m.columns : m.rows, A = E;
    if (l->out_weight && l->naming->origin[0] && as_matrix(&out, l->out_weight, 0, 0))
        A = out.rows == E ? out.columns : out.columns == E ? out.rows : E;
    if (all <= A || (all - A) % 2)
        A = all % 3 == 0 && !out.rows ? all / 3 : 0;
    for (int s = 0; s < 3; s++) {
        v->inputs[s] = E;
        v->rows[s] = s ? (all - A) / 2 : A;
    }
    if (!A || (!(l->naming->shapes & NAMED_GROUPED) && all != 3 * A) || (!l->naming->origin[0] && A != E))
        refuse(v, "%.80s: found shape %.60s, wanted (3E, E)", show_name(shown, l->weight[0]->name, strlen(l->weight[0]->name)),
               tensor_shape_text(shape, l->weight[0]));
    check_rows(v);
    check_biases(v, l);
    check_heads(v, clues, &none);
    check_out(v, l, in_out && l->naming->origin[0]);
}

/* ---- which view ---- */

static int is_grouped(const struct view *v)
{
    return v->rows[1] < v->rows[0];
}

static int is_cross(const struct view *v)
{
    return v->inputs[1] != v->inputs[0] || v->inputs[2] != v->inputs[0];
}

static int is_named(const struct view *v, const struct naming *n)
{
    return (!is_grouped(v) || n->shapes & NAMED_GROUPED) && (!is_cross(v) || n->shapes & NAMED_CROSS);
}

static const char *view_words(char text[120], const struct view *v, int in_out)
{
    char groups[48] = "", cross[56] = "";

    if (is_grouped(v))
        snprintf(groups, sizeof groups, "grouped queries, H/G = %zu, ", v->rows[0] / v->rows[1]);
    if (is_cross(v))
        snprintf(cross, sizeof cross, "kdim %zu, vdim %zu, ", v->inputs[1], v->inputs[2]);
    snprintf(text, 120, "%s%s%sstored %s", groups, cross, !groups[0] && !cross[0] ? "plain, " : "", in_out ? "(in,out)" : "(out,in)");
    return text;
}

static void doubt_views(struct layer *l, const struct view *v, int first)
{
    char words[2][120], shape[192];

    view_words(words[0], &v[first], first);
    view_words(words[1], &v[!first], !first);
    snprintf(l->doubt, sizeof l->doubt,
             "k of shape %.24s fits two readings: %.76s; or %.76s. --layout qkv,%s or qkv,%s decides, --heads with --kv-heads, or config.json",
             tensor_shape_text(shape, l->weight[1]), words[0], words[1], first ? "blocks" : "rows", first ? "rows" : "blocks");
}

/* Choose one of the views v[0] (out,in) and v[1] (in,out). */
static int choose_view(struct layer *l, const struct view *v, const struct clues *clues, int convention)
{
    int other = !convention;

    if (clues->layout && layer_separate(l))
        return clues->layout->storing == STORED_BLOCKS;
    if (v[convention].possible != v[other].possible) {
        int only = v[convention].possible ? convention : other;
        if (is_named(&v[only], l->naming) || (clues->config && clues->config->found && v[only].H))
            return only;
        if (layer_separate(l)) {    /* possible by its shapes alone, and unknown to the program of the names */
            char words[120];
            snprintf(l->doubt, sizeof l->doubt, "the shapes mean %.100s, which layers of %.40s do not have: --layout qkv,%s says that they are right",
                     view_words(words, &v[only], only), l->naming->origin[0] ? l->naming->origin : "nn.MultiheadAttention", only ? "blocks" : "rows");
        }
        return only;
    }
    if (!v[convention].possible || !layer_separate(l) || (!is_grouped(&v[0]) && !is_cross(&v[0]) && !is_grouped(&v[1]) && !is_cross(&v[1])))
        return convention;
    if (!is_named(&v[convention], l->naming) || is_named(&v[other], l->naming))
        doubt_views(l, v, convention);
    return convention;
}

/* ---- the layout of a packed weight by its names ---- */

static void name_layout(struct layer *l, const struct clues *clues)
{
    const struct naming *n = l->naming;
    const char *by_model = clues->config ? naming_model_layout(clues->config->model_type, clues->config->multi_query) : NULL;
    int biased = l->bias[0] && l->out_bias;
    /* One key head: whole and head by head are the same. c_attn: BigCode has rows, and all biases. */
    int rival = n->rival && !(layer_grouped(l) && l->G == 1) && l->rows[1] != l->D
             && (strcmp(n->layout, "qkv,columns") || (l->storing == STORED_ROWS && !layer_grouped(l) && biased));
    const char *own = !strcmp(n->layout, "qkv,columns") && l->storing == STORED_ROWS ? "qkv" : n->layout;

    if (!by_model && rival) {
        snprintf(l->doubt, sizeof l->doubt, "by its names the layout is %s (%.50s) or %s (%.50s): --layout decides, or config.json beside the file; order proves it",
                 own, n->origin, n->rival, n->rival_origin);
        l->layout[0] = '\0';
        return;
    }
    snprintf(l->layout, sizeof l->layout, "%s", by_model && n->rival ? by_model : own);
    if (layer_grouped(l) && l->G == 1)
        snprintf(l->layout, sizeof l->layout, "qkv");
    if (l->storing == STORED_COLUMNS && !strstr(l->layout, "columns"))
        snprintf(l->layout + strlen(l->layout), sizeof l->layout - strlen(l->layout), ",columns");
}

void layer_shape(struct layer *l, const struct clues *clues)
{
    int packed = !layer_separate(l);
    int convention = l->in_out || (l->naming->shapes & NAMED_3D) || (packed && !strcmp(l->naming->layout, "qkv,columns"));
    struct view v[2];

    for (int in_out = 0; in_out < 2; in_out++)
        (packed ? view_packed : view_separate)(&v[in_out], l, clues, in_out);
    int chosen = choose_view(l, v, clues, convention);
    const struct view *best = &v[chosen];
    l->E = best->inputs[0];
    l->Ek = best->inputs[1];
    l->Ev = best->inputs[2];
    memcpy(l->rows, best->rows, sizeof l->rows);
    l->H = best->H;
    l->G = best->G;
    l->D = best->D;
    l->out_width = best->out_width;
    l->out_transposed = best->out_transposed;
    l->storing = !chosen ? STORED_ROWS : packed ? STORED_COLUMNS : STORED_BLOCKS;
    if (!best->possible)
        snprintf(l->problem, sizeof l->problem, "%.*s: %.200s", (int)(l->length > 90 ? 90 : l->length ? l->length : 1), l->length ? l->prefix : ".", best->why);
    else if (packed)
        name_layout(l, clues);
    if (!l->problem[0] && !l->bias_k != !l->bias_v)
        snprintf(l->problem, sizeof l->problem, "bias_k or bias_v alone, wanted both or none");
}
