/* SPDX-License-Identifier: MIT */
/*
 * Letters: n batch item, h head, i query row, j key row, d channel of a head,
 * r row of all scores, (n * H + h) * L + i.
 */
#include "policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

static const real masked = -(real)INFINITY;

/* ---- rows without an open key ---- */

/* mask (Sx): no key is open. */
static int is_closed(const real *mask, size_t Sx)
{
    FOR(j, Sx) if (mask[j] != masked) return 0;
    return 1;
}

static size_t row_count(const struct array t[STAGES])
{
    return t[MASK].shape[0] * t[MASK].shape[1] * t[MASK].shape[2];
}

static void set_row(struct array t[STAGES], size_t r, real score, real weight)
{
    size_t Sx = t[MASK].shape[3];

    FOR(j, Sx) t[MASKED_SCORES].v[r * Sx + j] = score;
    FOR(j, Sx) t[ATTN_WEIGHTS].v[r * Sx + j] = weight;
}

/* head_outputs of row r from its weights. */
static void mix_row(struct array t[STAGES], size_t r)
{
    size_t L = t[MASK].shape[2], Sx = t[MASK].shape[3], D = t[V_HEADS].shape[3];
    const real *weight = t[ATTN_WEIGHTS].v + r * Sx, *v = t[V_HEADS].v + r / L * Sx * D;
    real *out = t[HEAD_OUTPUTS].v + r * D;

    FOR(d, D) out[d] = 0;
    FOR(j, Sx) FOR(d, D) out[d] += weight[j] * v[j * D + d];
}

/* A row without an open key has weights of 0, hence 0 before out_proj. */
static void zero_rows(struct array t[STAGES], const struct mha_in *in, double largest)
{
    size_t Sx = t[MASK].shape[3], D = t[V_HEADS].shape[3];

    (void)in, (void)largest;
    FOR(r, row_count(t)) if (is_closed(t[MASK].v + r * Sx, Sx)) {
        set_row(t, r, masked, 0);
        FOR(d, D) t[HEAD_OUTPUTS].v[r * D + d] = 0;
    }
}

/* The conditions of nn.MultiheadAttention in eval() without gradients for its
 * inference path, as far as the arguments decide them. */
static int takes_inference_path(const struct mha_in *in)
{
    size_t bytes = in->N * in->L * in->E * sizeof(real);

    return in->batched && in->batch_first && in->in_proj_weight && in->in_proj_bias && !in->bias_k && !in->add_zero_attn
        && in->H % 2 == 0 && !in->attn_mask.added && !in->key_padding_mask.added
        && in->L == in->S && in->E == in->Ek && in->E == in->Ev
        && !memcmp(in->query, in->key, bytes) && !memcmp(in->query, in->value, bytes);
}

static void need_weights_false(struct array t[STAGES], const struct mha_in *in, double largest)
{
    if (!takes_inference_path(in))
        zero_rows(t, in, largest);
}

/* All weights of a row without an open key are equal. */
static void mean_rows(struct array t[STAGES], const struct mha_in *in, double largest)
{
    size_t Sx = t[MASK].shape[3];

    (void)in, (void)largest;
    FOR(r, row_count(t)) if (is_closed(t[MASK].v + r * Sx, Sx)) {
        set_row(t, r, 0, 1 / (real)Sx);
        mix_row(t, r);
    }
}

/* The same for rows that bool masks close. A score that is filled with a finite
 * number and then added to a float mask's -inf is still -inf: such rows are NaN. */
static void mean_rows_bool(struct array t[STAGES], const struct mha_in *in, double largest)
{
    size_t L = in->L, S = in->S, H = in->H, Sx = t[MASK].shape[3];
    const struct mask *attn = &in->attn_mask, *padding = &in->key_padding_mask;

    (void)largest;
    FOR(r, row_count(t)) {
        size_t head = r / L, i = r % L, n = head / H, by_bool = 0;
        FOR(j, S) by_bool += (attn->masked && attn->masked[((attn->ndim == 3 ? head : 0) * L + i) * S + j])
                          || (padding->masked && padding->masked[n * S + j]);
        if (by_bool == Sx && is_closed(t[MASK].v + r * Sx, Sx)) {
            set_row(t, r, 0, 1 / (real)Sx);
            mix_row(t, r);
        }
    }
}

/* ---- NaN and infinity in masked keys and values ---- */

/* attn_weights of row r from its masked_scores. */
static void softmax_row(struct array t[STAGES], size_t r)
{
    size_t Sx = t[MASK].shape[3];
    const real *s = t[MASKED_SCORES].v + r * Sx;
    real *p = t[ATTN_WEIGHTS].v + r * Sx, max = masked, sum = 0;

    FOR(j, Sx) if (s[j] > max) max = s[j];
    FOR(j, Sx) p[j] = (real)exp((double)(s[j] - max));
    FOR(j, Sx) sum += p[j];
    FOR(j, Sx) p[j] /= sum;
}

/* No query of the head sees key j. */
static int is_unseen(const struct array t[STAGES], size_t head, size_t j)
{
    size_t L = t[MASK].shape[2], Sx = t[MASK].shape[3];

    FOR(i, L) if (t[MASK].v[(head * L + i) * Sx + j] != masked) return 0;
    return 1;
}

/* A key that no query of its head sees is never read: its score is -inf, and its
 * value takes no part in the sum. */
static void masked_ignored(struct array t[STAGES], const struct mha_in *in, double largest)
{
    size_t L = in->L, Sx = t[MASK].shape[3], D = t[V_HEADS].shape[3];

    (void)largest;
    FOR(r, row_count(t)) {
        const real *v = t[V_HEADS].v + r / L * Sx * D, *weight = t[ATTN_WEIGHTS].v + r * Sx;
        real *out = t[HEAD_OUTPUTS].v + r * D;
        FOR(j, Sx) if (is_unseen(t, r / L, j)) t[MASKED_SCORES].v[r * Sx + j] = masked;
        softmax_row(t, r);
        FOR(d, D) out[d] = 0;
        FOR(j, Sx) FOR(d, is_unseen(t, r / L, j) ? 0 : D) out[d] += weight[j] * v[j * D + d];
        FOR(d, is_closed(t[MASK].v + r * Sx, Sx) ? D : 0) out[d] = (real)NAN;
    }
}

/* A masked score is replaced by -inf, whatever it was. Its weight of 0 still
 * multiplies the value. */
static void masked_filled(struct array t[STAGES], const struct mha_in *in, double largest)
{
    size_t Sx = t[MASK].shape[3];

    (void)in, (void)largest;
    FOR(r, row_count(t)) {
        size_t changed = 0;
        FOR(j, Sx) if (t[MASK].v[r * Sx + j] == masked && t[MASKED_SCORES].v[r * Sx + j] != masked) {
            t[MASKED_SCORES].v[r * Sx + j] = masked;
            changed++;
        }
        if (changed) {
            softmax_row(t, r);
            mix_row(t, r);
        }
    }
}

/* ---- scores that leave the range ---- */

static int overflows(const struct array t[STAGES], size_t m, double largest)
{
    return isfinite(t[SCORES].v[m]) && fabs(t[SCORES].v[m]) * sqrt((double)t[Q_HEADS].shape[3]) > largest;
}

/* q k^T is stored in the type before it is scaled: what is too large becomes
 * infinite, and a row whose largest score is infinite becomes NaN. */
static void scores_overflow(struct array t[STAGES], const struct mha_in *in, double largest)
{
    size_t Sx = t[MASK].shape[3];

    (void)in;
    FOR(r, row_count(t)) {
        size_t changed = 0;
        FOR(j, Sx) {
            size_t m = r * Sx + j;
            if (!overflows(t, m, largest))
                continue;
            t[SCORES].v[m] = (real)copysign(INFINITY, (double)t[SCORES].v[m]);
            t[MASKED_SCORES].v[m] = t[SCORES].v[m] + t[MASK].v[m];
            changed++;
        }
        if (changed) {
            softmax_row(t, r);
            mix_row(t, r);
        }
    }
}

/* ---- the table; the policies of a question stand together ---- */

const struct policy policies[POLICIES] = {
    [POLICY_PYTORCH] = { "pytorch", QUESTIONS, 1, NULL, "as nn.MultiheadAttention with need_weights=True", NULL },
    [POLICY_ZERO_ROWS] = { "zero_rows", QUESTION_ROWS, 1, NULL,
        "rows without an open key: weights of 0, as PyTorch answers with need_weights=False", zero_rows },
    [POLICY_NEED_WEIGHTS_FALSE] = { "need_weights_false", QUESTION_ROWS, 1, NULL,
        "rows without an open key: NaN on PyTorch's inference path, else weights of 0, as PyTorch answers with need_weights=False without gradients",
        need_weights_false },
    [POLICY_MEAN_ROWS] = { "mean_rows", QUESTION_ROWS, 0, NULL,
        "rows without an open key: mean of the values, as Keras and Tokamax answer", mean_rows },
    [POLICY_MEAN_ROWS_BOOL] = { "mean_rows_bool", QUESTION_ROWS, 0, "mean_rows",
        "rows without an open key: mean of the values, as JAX and MLX answer (NaN if a float mask closes the row)", mean_rows_bool },
    [POLICY_MASKED_IGNORED] = { "masked_ignored", QUESTION_MASKED, 1, NULL,
        "keys masked for every query are never read: NaN in them does not spread", masked_ignored },
    [POLICY_MASKED_FILLED] = { "masked_filled", QUESTION_MASKED, 1, NULL,
        "masks are filled in over NaN: NaN in a masked key does not spread, in a masked value it does, as on PyTorch's inference path and in JAX",
        masked_filled },
    [POLICY_SCORES_OVERFLOW] = { "scores_overflow", QUESTION_OVERFLOW, 0, NULL,
        "scores overflow the type before they are scaled: infinity, then NaN", scores_overflow },
};

const struct policy *policy_named(const char *name)
{
    FOR(k, POLICIES) if (!strcmp(policies[k].name, name)) return &policies[k];
    return NULL;
}

const char *policy_names(char text[POLICY_LIST])
{
    size_t used = 0;

    for (int k = 1; k < POLICIES && used < POLICY_LIST; k++)
        used += (size_t)snprintf(text + used, POLICY_LIST - used, "%s%s", k == 1 ? "" : k + 1 < POLICIES ? ", " : " or ", policies[k].name);
    return text;
}

/* ---- combinations: a number whose digits are the answers to the questions ---- */

static size_t answer_count(enum policy_question question)
{
    size_t count = 1;

    FOR(k, POLICIES) count += policies[k].question == question;
    return count;
}

size_t policy_combinations(void)
{
    size_t count = 1;

    FOR(q, QUESTIONS) count *= answer_count((enum policy_question)q);
    return count;
}

int policy_of(size_t combination, enum policy_question question)
{
    size_t answer;

    FOR(q, (size_t)question) combination /= answer_count((enum policy_question)q);
    answer = combination % answer_count(question);
    FOR(k, POLICIES) if (policies[k].question == question && answer && !--answer) return (int)k;
    return POLICY_PYTORCH;
}

size_t policy_alone(int policy)
{
    size_t combination = 0;

    while (policy_single(combination) != policy)
        combination++;
    return combination;
}

int policy_single(size_t combination)
{
    int single = POLICY_PYTORCH;

    FOR(q, QUESTIONS) {
        int policy = policy_of(combination, (enum policy_question)q);
        if (policy == POLICY_PYTORCH)
            continue;
        if (single != POLICY_PYTORCH)
            return POLICIES;
        single = policy;
    }
    return single;
}

const struct policy *policy_first(size_t combination)
{
    FOR(q, QUESTIONS) {
        int policy = policy_of(combination, (enum policy_question)q);
        if (policy != POLICY_PYTORCH)
            return &policies[policy];
    }
    return &policies[POLICY_PYTORCH];
}

uint64_t policy_allowed(uint32_t allowed)
{
    uint64_t set = 0;

    FOR(c, policy_combinations()) {
        int all = 1;
        FOR(q, QUESTIONS) {
            int policy = policy_of(c, (enum policy_question)q);
            all = all && (policies[policy].conformant || allowed >> policy & 1);
        }
        set |= (uint64_t)all << c;
    }
    return set;
}

size_t policy_restricted(size_t combination, uint32_t questions)
{
    size_t restricted = 0, place = 1;

    FOR(q, QUESTIONS) {
        size_t count = answer_count((enum policy_question)q);
        if (questions >> q & 1)
            restricted += combination % count * place;
        combination /= count;
        place *= count;
    }
    return restricted;
}

size_t policy_reduced(size_t combination, uint64_t set)
{
    FOR(c, combination) {
        int part = set >> c & 1;
        FOR(q, QUESTIONS) {
            int policy = policy_of(c, (enum policy_question)q);
            part = part && (policy == POLICY_PYTORCH || policy == policy_of(combination, (enum policy_question)q));
        }
        if (part)
            return c;
    }
    return combination;
}

/* ---- numbers ---- */

static int has_nonfinite(const real *x, size_t D)
{
    FOR(d, D) if (!isfinite(x[d])) return 1;
    return 0;
}

uint32_t policy_questions(const struct array t[STAGES], double largest)
{
    size_t L = t[MASK].shape[2], Sx = t[MASK].shape[3], D = t[K_HEADS].shape[3];
    int rows = 0, closed_key = 0, overflow = 0, hidden = 0;

    FOR(r, row_count(t)) {
        rows = rows || (Sx && is_closed(t[MASK].v + r * Sx, Sx));
        FOR(j, Sx) {
            size_t key = (r / L * Sx + j) * D, m = r * Sx + j;
            int is_masked = t[MASK].v[m] == masked;
            hidden = hidden || is_masked;
            closed_key = closed_key || (is_masked && (has_nonfinite(t[K_HEADS].v + key, D) || has_nonfinite(t[V_HEADS].v + key, D)));
            overflow = overflow || overflows(t, m, largest);
        }
    }
    return (uint32_t)rows << QUESTION_ROWS | (uint32_t)(closed_key || (overflow && hidden)) << QUESTION_MASKED
         | (uint32_t)overflow << QUESTION_OVERFLOW;
}

void policy_apply(struct array t[STAGES], const struct mha_in *in, size_t combination, double largest)
{
    static const enum policy_question order[] = { QUESTION_OVERFLOW, QUESTION_MASKED, QUESTION_ROWS };    /* each sees what the one before made */

    FOR(k, QUESTIONS) {
        const struct policy *p = &policies[policy_of(combination, order[k])];
        if (p->change)
            p->change(t, in, largest);
    }
}

void policy_forward(struct array t[STAGES], const struct mha_in *in, int policy, double largest)
{
    mha_projections(t, in);
    mha_core(t, in);
    policy_apply(t, in, policy_alone(policy), largest);
    mha_output(t, in);
}

const char *policy_allow(uint64_t *allowed, const char *names, char error[POLICY_ERROR])
{
    uint32_t bits = 0;
    char name[64], known[POLICY_LIST];

    for (const char *at = names; at;) {
        size_t length = strcspn(at, ",");
        int found = 0;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
        for (int k = 1; k < POLICIES; k++)
            if (!strcmp(name, policies[k].name) || (policies[k].allowed_by && !strcmp(name, policies[k].allowed_by))) {
                bits |= (uint32_t)1 << k;
                found = 1;
            }
        if (!found) {
            snprintf(error, POLICY_ERROR, "%s: no such policy; wanted %s", name[0] ? name : "an empty name", policy_names(known));
            return error;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    *allowed = policy_allowed(bits);
    return NULL;
}
