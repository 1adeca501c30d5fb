/* SPDX-License-Identifier: MIT */
/* A kernel called in this process. */
#include <stdio.h>
#include <stdlib.h>

#include "call.h"

const char *call_make(struct call *c, const struct vector *v, const struct profile *p, enum scope scope)
{
    const char *wrong = "not enough memory for a kernel's arrays";

    *c = (struct call){ 0 };
    call_plan(&c->plan, v, p, scope, (struct call_layout){ 0 });
    c->in = malloc(c->plan.in_bytes);
    c->out = malloc(c->plan.out_bytes);
    if (c->in && c->out) {
        call_clear(c->in, &c->plan);
        wrong = call_fill(c->in, &c->plan, v, p, scope);
    }
    if (wrong) {
        call_free(c);
        return wrong;
    }
    call_blank(c->out, &c->plan, 0);
    call_bind(&c->call, &c->plan, c->in, c->out, &c->written, c->reason);
    return NULL;
}

void call_free(struct call *c)
{
    free(c->in);
    free(c->out);
    c->in = c->out = NULL;
}

static void answer_call(struct adapter *self, struct result *result, const struct vector *v, const struct profile *p)
{
    const struct adapter_call *state = self->state;
    struct call *c = malloc(sizeof *c);    /* call.written and call.reason point into it: it may not move */
    const char *wrong = c ? call_make(c, v, p, self->scope) : "not enough memory for a call";
    char sentence[256] = "";

    if (!wrong) {
        call_outcome(result, state->kernel(&c->call), c->reason);
        if (result->outcome == OUTCOME_PASS) {
            call_inspect(sentence, c->out, &c->plan, 0, c->written);
            wrong = sentence[0] ? NULL : call_read(result->got, c->out, &c->plan, c->written);
        }
        call_free(c);
    }
    if (wrong || sentence[0]) {
        result->outcome = wrong ? OUTCOME_ERROR : OUTCOME_FAIL;
        snprintf(result->reason, sizeof result->reason, "%s", wrong ? wrong : sentence);
    }
    free(c);
}

struct adapter adapter_call(struct adapter_call *state, const char *name, enum scope scope)
{
    return (struct adapter){ .name = name, .answer = answer_call, .state = state, .scope = scope };
}
