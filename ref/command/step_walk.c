/* SPDX-License-Identifier: MIT */
/*
 * The walk itself: which stages there are, and what is written at each.
 *
 * Letters: k stage.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "step.h"

const char *walk_open(struct walk *w, const struct vector *v)
{
    const char *wrong;

    *w = (struct walk){ .v = v };
    if ((wrong = expected_make(&w->expected, v, 0, &profiles[PROFILE_FLOAT32], SCOPE_LAYER)))
        return wrong;
    w->t = w->expected.answer[0].stage;
    w->sigma = w->expected.answer[0].sigma;
    return NULL;
}

void walk_close(struct walk *w)
{
    expected_free(&w->expected);
}

size_t walk_count(const struct walk *w)
{
    return walk_place(w, STAGES) - 1;
}

size_t walk_place(const struct walk *w, enum mha_stage k)
{
    size_t place = 1;

    for (int s = 0; s < (int)k; s++)
        place += w->t[s].v != NULL;
    return place;
}

enum mha_stage walk_at(const struct walk *w, size_t place)
{
    for (int k = 0; k < STAGES; k++)
        if (w->t[k].v && !--place)
            return (enum mha_stage)k;
    return STAGES;
}

enum mha_stage walk_neighbour(const struct walk *w, enum mha_stage k, int forward)
{
    enum mha_stage there = walk_at(w, walk_place(w, k) + (forward ? 1 : (size_t)-1));

    return there == STAGES ? k : there;
}

void walk_go(struct walk *w, enum mha_stage k)
{
    w->stage = k;
    memset(w->at, 0, sizeof w->at);
}

size_t walk_offset(const struct walk *w)
{
    const struct array *a = &w->t[w->stage];

    return ((w->at[0] * a->shape[1] + w->at[1]) * a->shape[2] + w->at[2]) * a->shape[3] + w->at[3];
}

/* ---- text ---- */

void step_add(struct step_text *x, const char *format, ...)
{
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(x->text + x->used, STEP_TEXT - x->used, format, list);
    va_end(list);
    x->used = n < 0 ? x->used : x->used + (size_t)n < STEP_TEXT ? x->used + (size_t)n : STEP_TEXT - 1;
}

void step_index(struct step_text *x, const char *name, int ndim, const size_t *at)
{
    step_add(x, "%s[", name);
    for (int d = 0; d < ndim; d++)
        step_add(x, d ? ",%zu" : "%zu", at[d]);
    step_add(x, "]");
}

double step_largest(const struct array *a)
{
    double largest = 0;

    for (size_t m = 0; m < a->size; m++)
        if (isfinite(a->v[m]))
            largest = fmax(largest, fabs(a->v[m]));
    return largest;
}

char step_shade(double x, double largest)
{
    static const char shades[] = " .:-=+*%@#";

    if (isnan(x))
        return '?';
    if (isinf(x))
        return x > 0 ? '^' : '_';
    return largest > 0 ? shades[(int)ceil(9 * fabs(x) / largest)] : ' ';
}

/* ---- what is written at each stage ---- */

static const struct { const char *torch, *formula; } written[STAGES] = {
    [QUERY_ROWS] = { NULL, "query_rows[n,i,c]" }, [KEY_ROWS] = { NULL, "key_rows[n,j,c]" }, [VALUE_ROWS] = { NULL, "value_rows[n,j,c]" },
    [Q_WEIGHT] = { NULL, "q_weight[e,c] = in_proj_weight[e,c]" },
    [K_WEIGHT] = { NULL, "k_weight[e,c] = in_proj_weight[E+e,c]" },
    [V_WEIGHT] = { NULL, "v_weight[e,c] = in_proj_weight[2*E+e,c]" },
    [Q_BIAS] = { NULL, "q_bias[e] = in_proj_bias[e]" },
    [K_BIAS] = { NULL, "k_bias[e] = in_proj_bias[E+e]" },
    [V_BIAS] = { NULL, "v_bias[e] = in_proj_bias[2*E+e]" },
    [Q_WEIGHT_T] = { "q_w = q_w.T", "q_weight_t[c,e] = q_weight[e,c]" },
    [K_WEIGHT_T] = { "k_w = k_w.T", "k_weight_t[c,e] = k_weight[e,c]" },
    [V_WEIGHT_T] = { "v_w = v_w.T", "v_weight_t[c,e] = v_weight[e,c]" },
    [Q_PROJ] = { "qp = query @ q_w + q_b", "q_proj[n,i,e] = q_bias[e] + sum over c of query_rows[n,i,c] * q_weight_t[c,e]" },
    [K_PROJ] = { "kp = key @ k_w + k_b", "k_proj[n,j,e] = k_bias[e] + sum over c of key_rows[n,j,c] * k_weight_t[c,e]" },
    [V_PROJ] = { "vp = value @ v_w + v_b", "v_proj[n,j,e] = v_bias[e] + sum over c of value_rows[n,j,c] * v_weight_t[c,e]" },
    [Q_HEADS] = { "qpp = qp.reshape(N, L, H, D).transpose(1, 2)", "q_heads[n,h,i,d] = q_proj[n,i,h*D+d]" },
    [K_HEADS] = { "kpp = kp.reshape(N, S, H, D).transpose(1, 2)", "k_heads[n,h,j,d] = k_proj[n,j,h*D+d]" },
    [V_HEADS] = { "vpp = vp.reshape(N, S, H, D).transpose(1, 2)", "v_heads[n,h,j,d] = v_proj[n,j,h*D+d]" },
    [MASK] = { NULL, NULL },
    [SCORES] = { "s = qpp @ kpp.transpose(-1, -2) / math.sqrt(D)",
                 "scores[n,h,i,j] = (sum over d of q_heads[n,h,i,d] * k_heads[n,h,j,d]) / sqrt(D)" },
    [MASKED_SCORES] = { "s = s + mask", "masked_scores[n,h,i,j] = scores[n,h,i,j] + mask[n,h,i,j]" },
    [ATTN_WEIGHTS] = { "a = torch.nn.functional.softmax(s, dim=-1)",
                       "attn_weights[n,h,i,j] = exp(masked_scores[n,h,i,j]) / (sum over all keys of exp(masked_scores[n,h,i,:]))" },
    [HEAD_OUTPUTS] = { "p = a @ vpp", "head_outputs[n,h,i,d] = sum over j of attn_weights[n,h,i,j] * v_heads[n,h,j,d]" },
    [MERGED] = { "p = p.transpose(1, 2).reshape(N, L, E)", "merged[n,i,h*D+d] = head_outputs[n,h,i,d]" },
    [OUT_WEIGHT_T] = { "o_w = attn.out_proj.weight.T", "out_weight_t[c,e] = out_proj.weight[e,c]" },
    [OUTPUT] = { "o = attn.out_proj(p)", "output[n,i,e] = out_proj.bias[e] + sum over c of merged[n,i,c] * out_weight_t[c,e]" },
    [ATTN_WEIGHTS_MEAN] = { "a.mean(dim=1)    # average_attn_weights=True", "attn_weights_mean[n,i,j] = (sum over h of attn_weights[n,h,i,j]) / H" },
};

static void torch_mask(struct step_text *x, const struct mha_in *in)
{
    int attn = in->attn_mask.ndim, padding = in->key_padding_mask.ndim;

    if (!attn && !padding)
        step_add(x, "attn_mask=None, key_padding_mask=None");
    else
        step_add(x, "mask = %s%s%s    # true becomes -inf, false 0", attn ? "attn_mask" : "", attn && padding ? " + " : "",
                 padding ? "key_padding_mask[:, None, None, :]" : "");
}

void step_torch(struct step_text *x, const struct walk *w)
{
    static const char *const arguments[] = { "query", "key", "value" }, *const letters[] = { "q", "k", "v" };
    const struct mha_in *in = &w->v->in;
    enum mha_stage k = w->stage;

    if (k <= VALUE_ROWS)
        step_add(x, in->batch_first || !in->batched ? "%s" : "%s.transpose(0, 1)    # batch_first=False", arguments[k]);
    else if (k <= V_WEIGHT && !in->in_proj_weight)
        step_add(x, "%s_w = attn.%s_proj_weight", letters[k - Q_WEIGHT], letters[k - Q_WEIGHT]);
    else if (k <= V_WEIGHT)
        step_add(x, "q_w, k_w, v_w = torch.split(attn.in_proj_weight, [E, E, E])");
    else if (k <= V_BIAS)
        step_add(x, "q_b, k_b, v_b = torch.split(attn.in_proj_bias, [E, E, E])");
    else if (k == MASK)
        torch_mask(x, in);
    else
        step_add(x, "%.*s", k >= Q_PROJ && k <= V_PROJ && !in->in_proj_bias ? (int)(strstr(written[k].torch, " + ") - written[k].torch) : STEP_TEXT,
                 written[k].torch);
    if ((k == K_HEADS || k == V_HEADS) && in->bias_k)
        step_add(x, "    # then bias_%c as one more row", k == K_HEADS ? 'k' : 'v');
    if ((k == K_HEADS || k == V_HEADS) && in->add_zero_attn)
        step_add(x, "    # then a row of zeros");
}

void step_formula(struct step_text *x, const struct walk *w)
{
    static const char *const arguments[] = { "query", "key", "value" };
    const struct mha_in *in = &w->v->in;
    enum mha_stage k = w->stage;
    char t = k == QUERY_ROWS ? 'i' : 'j';

    if (k <= VALUE_ROWS && !in->batched)
        step_add(x, "%s = %s[%c,c]", written[k].formula, arguments[k], t);
    else if (k <= VALUE_ROWS && in->batch_first)
        step_add(x, "%s = %s[n,%c,c]", written[k].formula, arguments[k], t);
    else if (k <= VALUE_ROWS)
        step_add(x, "%s = %s[%c,n,c]", written[k].formula, arguments[k], t);
    else if (k >= Q_WEIGHT && k <= V_WEIGHT && !in->in_proj_weight)
        step_add(x, "%s[e,c] = %c_proj_weight[e,c]", w->t[k].name, "qkv"[k - Q_WEIGHT]);
    else if (k == MASK) {
        step_add(x, "mask[n,h,i,j] = ");
        if (in->attn_mask.ndim)
            step_add(x, in->attn_mask.ndim == 3 ? "attn_mask[n*H+h,i,j]" : "attn_mask[i,j]");
        if (in->key_padding_mask.ndim)
            step_add(x, in->attn_mask.ndim ? " + key_padding_mask[n,j]" : "key_padding_mask[n,j]");
        if (!in->attn_mask.ndim && !in->key_padding_mask.ndim)
            step_add(x, "0");
        else if (w->t[MASK].shape[3] > in->S)
            step_add(x, ", and 0 for the appended rows");
    } else if (k == OUTPUT ? !in->out_proj_bias : k >= Q_PROJ && k <= V_PROJ && !in->in_proj_bias) {    /* no addend */
        const char *from = strchr(written[k].formula, '=') + 2;
        step_add(x, "%.*s%s", (int)(from - written[k].formula), written[k].formula, strstr(from, " + ") + 3);
    } else
        step_add(x, "%s", written[k].formula);
}
